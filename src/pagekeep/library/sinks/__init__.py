"""Sinks: saved and changed items are sent on to other programs, through an outbox in the store."""
