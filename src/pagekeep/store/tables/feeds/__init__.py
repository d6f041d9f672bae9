"""Feeds, their entries, and lists that others read as feeds."""
