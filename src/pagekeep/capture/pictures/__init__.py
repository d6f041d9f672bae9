"""Checking pictures, and making smaller or harmless copies of them."""
