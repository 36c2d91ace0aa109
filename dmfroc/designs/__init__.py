"""Designs beyond one classifier on one test set, one module each; all rest on influences."""
