"""What analyses return, and how it is written: text, data frames, JSON."""
