"""Packs: the pages of a site as a folder of Markdown, as `llms.txt`, or as a book."""
