"""Strategies: the ways to find the content of a page. `chain` tries them in order."""
