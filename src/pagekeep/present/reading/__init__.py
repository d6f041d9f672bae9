"""What doors show about reading."""
