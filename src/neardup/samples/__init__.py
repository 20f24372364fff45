"""A small collection with planted copies and their true pairs, for the demonstration and for tests."""
