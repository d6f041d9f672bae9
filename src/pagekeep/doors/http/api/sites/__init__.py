"""Whole sites: crawls and maps."""
