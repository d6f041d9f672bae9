"""Pages about reading: all highlights and notes, progress, and similar pages."""
