"""What of an item is searched: its title, author and tags (the head), and the words of its content (the body)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pagekeep.store.search.search_words import words
from pagekeep.text import LINK_TARGET

FIELD_END: Final = "¶"
"""Stands between the fields of the head, so that no phrase reaches over; no text has it as a word."""

_LONGEST_FIELD: Final = 1_000
_MOST_TAGS: Final = 20
"""Tags beyond are found by `tag:` alone."""
_FRONTMATTER: Final = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def without_frontmatter(content: str) -> str:
    """The Markdown alone."""
    match = _FRONTMATTER.match(content)
    return content[match.end() :] if match else content


def head_words(title: str, author: str | None, tags: Sequence[str]) -> str:
    """The search words of the head, in one text."""
    fields = (title, author or "", *tags[:_MOST_TAGS])
    found = f" {FIELD_END} ".join(" ".join(words(field, _LONGEST_FIELD)) for field in fields)
    return " ".join(found.split())


def body_words(content: str) -> str:
    """The search words of the content, in one text."""
    return " ".join(words(LINK_TARGET.sub(" ", without_frontmatter(content))))
