"""Lists, save rules, and changes of items that can be undone."""
