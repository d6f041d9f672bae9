"""Exports of other programs into the library."""
