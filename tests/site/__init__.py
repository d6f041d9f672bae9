"""A web site on loopback, good and bad: everything that the client must cope with, from a real server."""
