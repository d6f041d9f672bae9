"""Files made by hand to take time or memory, by type."""
