"""Mail: folders of mailboxes that are polled for newsletters, which arrive in the feed inbox."""
