"""Commands of lists, save rules and edits."""
