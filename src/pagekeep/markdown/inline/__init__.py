"""What is written within a line: text, emphasis, links, code and math."""
