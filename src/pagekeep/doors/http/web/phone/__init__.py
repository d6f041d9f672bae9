"""What phones need: pages that can be read without a connection."""
