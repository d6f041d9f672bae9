"""Code blocks."""
