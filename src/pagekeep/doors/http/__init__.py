"""The server: an API for programs, the reader for people."""
