"""Lists, save rules, suggested tags, and changes of one or many items that can be undone."""
