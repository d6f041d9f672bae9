"""The searched text of an item: title and author (the head), the words of its content (the body), and those of its tags.

The words of tags are in no index of texts, so that a change of tags does not index a long text again: searches look them up in
the tags of the library (`tagged_words.py`). They count as part of the head.
"""

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
_FRONTMATTER: Final = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def without_frontmatter(content: str) -> str:
    """Return the Markdown without its frontmatter."""
    match = _FRONTMATTER.match(content)
    return content[match.end() :] if match else content


def head_words(title: str, author: str | None, site: str | None = None) -> str:
    """Return the search words of the head, joined by spaces; `site` is the name that the user gave to it."""
    fields = (title, author or "", *filter(None, [site]))
    joined = f" {FIELD_END} ".join(" ".join(words(field, _MAX_FIELD_CHARS)) for field in fields)
    return " ".join(joined.split())


def tag_words(tag: str) -> str:
    """Return the search words of a tag, or of its key, joined by spaces."""
    return " ".join(words(tag, _MAX_FIELD_CHARS))


def padded(term: Term) -> str:
    """Return the term as it is in search words that begin and end with a space."""
    return f" {' '.join(term.words)}" + ("" if term.prefix else " ")


def with_tags(head: str, tags: Sequence[str]) -> str:
    """Return the words of a head followed by those of tags, each as a separate field."""
    return " ".join([head, *(f"{FIELD_END} {tag_words(tag)}" for tag in tags)])


def body_words(content: str) -> str:
    """Return the search words of the content, joined by spaces."""
    return " ".join(words(LINK_TARGET.sub(" ", without_frontmatter(content))))
