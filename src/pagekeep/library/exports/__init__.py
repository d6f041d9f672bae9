"""The library as files that other programs read."""
