"""Sinks and their outbox, as doors show them."""
