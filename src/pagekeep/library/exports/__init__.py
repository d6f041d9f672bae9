"""Export the library as files that other programs read."""
