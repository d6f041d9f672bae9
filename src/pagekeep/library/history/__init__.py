"""Pages over time: their versions, watching them for changes, and whether their addresses still work."""
