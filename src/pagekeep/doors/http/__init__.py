"""The server: an API for programs, a reader for people."""
