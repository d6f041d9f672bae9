"""The Markdown room: clean HTML to Markdown and plain text, frontmatter, and the file to keep. Pure."""

from __future__ import annotations

from pagekeep.markdown.convert import to_markdown
from pagekeep.markdown.document import document
from pagekeep.markdown.frontmatter import frontmatter, page_fields
from pagekeep.markdown.plain import to_text

__all__ = ["document", "frontmatter", "page_fields", "to_markdown", "to_text"]
