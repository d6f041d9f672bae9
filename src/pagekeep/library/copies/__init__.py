"""Copies of whole pages: a screenshot, a PDF, or one HTML file with everything in it."""
