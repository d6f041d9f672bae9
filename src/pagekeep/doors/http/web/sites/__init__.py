"""Whole sites in the reader."""
