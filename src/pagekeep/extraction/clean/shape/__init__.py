"""Paragraphs, lists and inline elements."""
