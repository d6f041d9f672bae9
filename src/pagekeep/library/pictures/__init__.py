"""The pictures of saved pages: downloaded after the save, checked, and kept with the item."""
