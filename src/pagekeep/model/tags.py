"""Tags: how they are written and compared, the same in the whole program ([docs/tags.md](../../../docs/tags.md)).

Two spellings are one tag when they differ only in case and accents, as in a search: `Energy` and `energy`, `cafe` and `café`.
The first spelling that an item got is the one that it shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.text import fold, one_line

MAX_TAG_CHARS: Final = 200
"""Both engines can index keys of this length."""
MAX_TAGS: Final = 200
"""Tags of one item."""


def clean_tag(tag: str) -> str:
    """Return a tag as it is stored: in one line, without a leading #."""
    return one_line(tag).removeprefix("#").strip()


def tag_key(tag: str) -> str:
    """Return the form by which tags are equal, whatever their case and accents."""
    return (fold(tag).strip() or tag.strip())[:MAX_TAG_CHARS]  # of one that has only accents, these


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, each once in its first spelling; empty ones are left out."""
    kept: dict[str, str] = {}
    for tag in tags:
        if key := tag_key(tag):
            kept.setdefault(key, tag)
    return tuple(kept.values())


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags that a user or a program entered as they are stored, each once."""
    return unique_tags(clean_tag(tag)[:MAX_TAG_CHARS].strip() for tag in tags)[:MAX_TAGS]


def without_tags(tags: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the tags that are not among the others."""
    keys = {tag_key(tag) for tag in others}
    return tuple(tag for tag in tags if tag_key(tag) not in keys)


def change_tags(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    """Return the tags with some added and others removed.

    Those that stay keep their order and spelling. One that is removed and added gets the new spelling at its old place.
    """
    removed = {tag_key(tag) for tag in remove}
    added = unique_tags(add)
    respelled = {tag_key(tag): tag for tag in added if tag_key(tag) in removed}
    kept = [
        respelled.get(tag_key(tag), tag) for tag in tags if tag_key(tag) in respelled or tag_key(tag) not in removed
    ]
    return unique_tags((*kept, *added))[:MAX_TAGS]
