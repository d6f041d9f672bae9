"""Tables about reading: how far each item has been read, and annotations across the library."""
