"""Commands about whole sites."""
