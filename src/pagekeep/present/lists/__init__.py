"""Shapes of lists, save rules and actions."""
