"""The searched text of an item: title, author and tags (the head), and the words of its content (the body)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pagekeep.model import Term
from pagekeep.store.search.search_words import words
from pagekeep.text import LINK_TARGET

FIELD_END: Final = "¶"
"""Separates the fields of the head, so that no phrase matches across them; it is never a search word."""

_MAX_FIELD_CHARS: Final = 1_000
_MAX_TAGS: Final = 20
"""Further tags are found by `tag:` only."""
_FRONTMATTER: Final = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def without_frontmatter(content: str) -> str:
    """Return the Markdown without its frontmatter."""
    match = _FRONTMATTER.match(content)
    return content[match.end() :] if match else content


def head_words(title: str, author: str | None, tags: Sequence[str]) -> str:
    """Return the search words of the head, joined by spaces."""
    fields = (title, author or "", *tags[:_MAX_TAGS])
    joined = f" {FIELD_END} ".join(" ".join(words(field, _MAX_FIELD_CHARS)) for field in fields)
    return " ".join(joined.split())


def body_words(content: str) -> str:
    """Return the search words of the content, joined by spaces."""
    return " ".join(words(LINK_TARGET.sub(" ", without_frontmatter(content))))


def padded(term: Term) -> str:
    """Return the term as it is in search words that begin and end with a space."""
    return f" {' '.join(term.words)}" + ("" if term.prefix else " ")
