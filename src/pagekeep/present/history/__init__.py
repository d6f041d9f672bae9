"""What doors show of pages over time: differences word by word, JSON shapes, feeds."""
