"""Feeds and mail sources."""
