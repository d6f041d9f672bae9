"""Commands about sinks."""
