"""Feeds in and out: subscriptions, the feed inbox, polling, and lists that others read as feeds."""
