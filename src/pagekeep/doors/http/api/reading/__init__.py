"""The API of reading: all annotations, and how far items have been read."""
