"""Keep a folder of Markdown files in sync with the library, in both directions."""
