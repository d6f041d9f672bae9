"""Use cases: what a door asks for, done with the rooms below."""
