"""Ranked hits and queries."""
