"""A small collection with planted copies, and the truth about it: for the demonstration and for tests."""
