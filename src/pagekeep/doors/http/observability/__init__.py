"""What the owner of a server sees of it: health, numbers, logs."""
