"""The contents of pages, made from answers of the library by pure functions, without HTML."""
