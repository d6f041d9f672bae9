"""Browsing: counts of items, and the words of the library."""
