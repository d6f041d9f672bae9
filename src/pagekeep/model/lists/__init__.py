"""Values of lists, save rules, edits, and changes that can be undone."""
