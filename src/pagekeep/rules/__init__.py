"""Declarative knowledge about sites and platforms: what a rule says, how files of them are read, which match a page."""
