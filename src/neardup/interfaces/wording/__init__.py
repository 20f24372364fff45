"""Results in words, the same on the terminal and on pages."""
