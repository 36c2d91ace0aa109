"""Threads, files, options, warnings, text: tools that know nothing of statistics."""
