"""Commands about reading."""
