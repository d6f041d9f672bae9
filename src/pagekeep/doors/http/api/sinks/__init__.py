"""Sinks and their outbox."""
