"""Convert clean HTML to Markdown and plain text; write frontmatter and the document to save. Pure."""

from __future__ import annotations

from pagekeep.markdown.convert import to_markdown, to_text
from pagekeep.markdown.document import join_document, write_bookmark, write_document
from pagekeep.markdown.frontmatter import page_fields, read_block, split_block, write_frontmatter

__all__ = [
    "join_document",
    "page_fields",
    "read_block",
    "split_block",
    "to_markdown",
    "to_text",
    "write_bookmark",
    "write_document",
    "write_frontmatter",
]
