"""Pages of lists, save rules, suggested tags, and forms that edit items."""
