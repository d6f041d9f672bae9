"""The stamp of an item's text: the hash in its metadata by which damage to the stored text is found.

Text and stamp are written together, by `store.tables.items` alone: a text that changes gets its own stamp, and one that
stays keeps the stamp that it has. A stamp is therefore never made of a text that was read from the library, which would
declare damage sound.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import StoreError
from pagekeep.model import Item, Metadata
from pagekeep.model.lists.edits import page_values
from pagekeep.store.metadata_json import metadata_from_json
from pagekeep.store.storable import parse_json

_MAX_HEAD_BLOCKS: Final = 3
"""Blocks that may come before the Markdown in an item's text: frontmatter, hero image, title."""
_COLUMNS: Final = tuple(field.name for field in fields(Item) if field.name != "metadata")
_NOT_CAPTURED: Final = re.compile(r"^(?:saved_at|reason): .*\n(?:(?: .*)?\n)*", re.MULTILINE)
"""Lines of a bookmark's frontmatter that older versions changed without the stamp, or not with the item."""


def stamp_text(item: Item) -> Item:
    """Return a new item, or one with a new text, with the stamp of its text."""
    return replace(item, metadata=replace(item.metadata, text_hash=_hash(item.content)))


def carry_stamp(old: Item, new: Item) -> Item:
    """Return a changed item with the stamp of its text: the stored one if the text is the stored one, else its own."""
    if new.content != old.content:
        return stamp_text(new)
    if new.metadata.text_hash == old.metadata.text_hash:
        return new
    return replace(new, metadata=replace(new.metadata, text_hash=old.metadata.text_hash))


def is_text_sound(item: Item) -> bool:
    """Return whether an item's text is the one that was stored, as far as its stamp can tell.

    Without a stamp, it is if it has the Markdown whose hash was recorded when it was extracted, if one was.

    This is the one answer to "is this stored text sound?", for `verify`, backups and repairs. `is_row_sound` answers the
    same for a row of the table `items`.
    """
    about = item.metadata
    if about.text_hash is None:
        return about.content_hash is None or about.edited or has_markdown(item.content, about.content_hash)
    return about.text_hash == _hash(item.content) or _is_older_bookmark(item)


def is_row_sound(row: Mapping[str, Any]) -> bool:
    """Return whether a row of the table `items`, by the names of its columns, can be read and has a sound text."""
    try:
        metadata = metadata_from_json(parse_json(row["metadata"]))
        return is_text_sound(Item(**{name: row[name] for name in _COLUMNS}, metadata=metadata))
    except (StoreError, ValueError, TypeError, AttributeError):
        return False


def has_markdown(content: str, content_hash: str | None) -> bool:
    """Return whether an item's text ends with the Markdown that has this hash."""
    start = 0
    for block in range(_MAX_HEAD_BLOCKS + 1):
        if _hash_fits(content[start:], content_hash):
            return True
        if block == 0 and content.startswith("---\n"):  # frontmatter may have blank lines in its values
            end = content.find("\n---\n", 3)
            start = end + len("\n---\n") if end >= 0 else start
            start += len(content[start:]) - len(content[start:].lstrip("\n"))
            continue
        end = content.find("\n\n", start)
        if end < 0:
            break
        start = end + 2
    return _hash_fits("", content_hash)


def _hash_fits(text: str, content_hash: str | None) -> bool:
    body = text.rstrip("\n")
    return any(_hash(candidate) == content_hash for candidate in (text, body, f"{body}\n"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _is_older_bookmark(item: Item) -> bool:
    """Return whether the text is that of a page that was never fetched, as older versions stored it.

    They wrote the reason of the last failure into the text and left the stamp of the first one. Nothing in such a text was
    captured: it is sound if it is the one that the item's own fields make.
    """
    about = item.metadata
    if not about.has_only_address or not re.search(r"^reason: ", item.content, re.MULTILINE):
        return False
    from pagekeep.markdown import write_bookmark  # it loads the parser

    values = page_values(item)
    known = Metadata(
        title=values["title"] if values["title"] != item.url else None,
        author=values["author"],
        published=values["published_at"],
        site_name=values["site_name"],
        language=about.language,
        description=about.description,
        hero_image=about.hero_image,
    )
    text = write_bookmark(known, url=item.url_full, saved_at=clock.to_the_second(item.saved_at))
    return _NOT_CAPTURED.sub("", text) == _NOT_CAPTURED.sub("", item.content)
