"""The ways in: each reads input, calls one function of the house, and shows the result."""
