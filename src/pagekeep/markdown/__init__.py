"""The Markdown room: clean HTML to Markdown and plain text, frontmatter, and the file to keep. Pure."""

from __future__ import annotations

from pagekeep.markdown.convert import to_markdown
from pagekeep.markdown.document import document
from pagekeep.markdown.frontmatter import frontmatter, page_fields
from pagekeep.markdown.plain import to_text
from pagekeep.markdown.words import count_words, reading_time

__all__ = ["count_words", "document", "frontmatter", "page_fields", "reading_time", "to_markdown", "to_text"]
