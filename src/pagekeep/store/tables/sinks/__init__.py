"""Sinks, and the outbox of what waits to be delivered to them."""
