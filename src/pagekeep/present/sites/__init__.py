"""Whole sites, as doors show them."""
