"""Doors in the shape of other services, for tools that already speak to those."""
