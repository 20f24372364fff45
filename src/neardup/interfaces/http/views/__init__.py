"""What the pages show, made from what the library answers: pure, and nothing of it is HTML."""
