"""Pairs that people label, and the rule that fits them."""
