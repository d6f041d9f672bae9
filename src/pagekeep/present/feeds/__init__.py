"""Feeds in the forms in which doors show them, and as other programs read them."""
