"""The stamp of an item's text: the hash in its metadata by which damage to the stored text is found, and its signature.

Text and stamp are written together, by `store.tables.items` alone: a text that changes gets its own stamp, and one that
stays keeps the stamp that it has. A stamp is therefore never made of a text that was read from the library, which would
declare damage sound.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import StoreError
from pagekeep.model import Item, Metadata
from pagekeep.model.lists.edits import page_values
from pagekeep.store.metadata_json import metadata_from_json
from pagekeep.store.storable import parse_json

_HEAD: Final = re.compile(
    r"(?:\[!\[(?:Article hero image)?\]\((\S{1,10000})\)\]\(\1\)(?:\n\n|\n?\Z))?(?:# (.+)(?:\n\n|\n?\Z))?"
)
"""What Pagekeep writes between frontmatter and Markdown: a hero image, as all versions write it, and the title."""
_TITLE: Final = re.compile(r"^title: (.*(?:\n .*)*)", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_NO_MARKDOWN: Final = ("", "[Content discarded by parsing rule]")
"""Texts of pages that give no Markdown."""
_COLUMNS: Final = tuple(field.name for field in fields(Item) if field.name != "metadata")
_NOT_CAPTURED: Final = re.compile(r"^(?:saved_at|reason): .*\n(?:(?: .*)?\n)*", re.MULTILINE)
"""Lines of a bookmark's frontmatter that older versions changed without the stamp, or not with the item."""


Sign = Callable[[Item], Mapping[str, Any]]
"""Signs the receipt of an item, which has the stamp of its text."""


def stamp_text(item: Item, sign: Sign | None = None) -> Item:
    """Return a new item, or one with a new text, with the stamp of its text, signed if receipts are.

    Where they are not, an item that was imported keeps the signature that it came with.
    """
    text_hash = _hash(item.content)
    signature = item.metadata.signature if item.metadata.text_hash == text_hash else None
    item = replace(item, metadata=replace(item.metadata, text_hash=text_hash, signature=signature))
    return item if sign is None else replace(item, metadata=replace(item.metadata, signature=sign(item)))


def carry_stamp(old: Item, new: Item, sign: Sign | None = None) -> Item:
    """Return a changed item with the stamp of its text: the stored one if the text is the stored one, else its own."""
    if new.content != old.content:
        return stamp_text(new, sign)
    was, now = old.metadata, new.metadata
    if (was.text_hash, was.signature) == (now.text_hash, now.signature):
        return new
    return replace(new, metadata=replace(now, text_hash=was.text_hash, signature=was.signature))


def is_text_sound(item: Item) -> bool:
    """Return whether an item's text is the one that was stored, as far as its stamp can tell.

    Without a stamp, it is if it has the Markdown whose hash was recorded when it was extracted, if one was: that proves
    nothing about the frontmatter.

    This is the one answer to "is this stored text sound?", for `verify`, backups and repairs. `is_row_sound` answers the
    same for a row of the table `items`.
    """
    about = item.metadata
    if about.text_hash is None:
        return about.content_hash is None or about.edited or has_markdown(item)
    return about.text_hash == _hash(item.content) or _is_older_bookmark(item)


def is_row_sound(row: Mapping[str, Any]) -> bool:
    """Return whether a row of the table `items`, by the names of its columns, can be read and has a sound text."""
    try:
        metadata = metadata_from_json(parse_json(row["metadata"]))
        return is_text_sound(Item(**{name: row[name] for name in _COLUMNS}, metadata=metadata))
    except (StoreError, ValueError, TypeError, AttributeError):
        return False


def has_markdown(item: Item) -> bool:
    """Return whether an item's text is a head of ours and the Markdown with the hash that was recorded.

    The head is frontmatter, the page's hero image and its title, each of them or none: nothing else may come before the
    Markdown. What the frontmatter says is not compared.
    """
    from pagekeep.markdown import split_block  # it loads the parser

    about = item.metadata
    block, rest = split_block(item.content)
    if _hash_fits(rest, about.content_hash) or (rest.strip("\n") in _NO_MARKDOWN and _hash("") == about.content_hash):
        return True
    head = _HEAD.match(rest)
    assert head is not None  # all of it is optional
    hero, title = head.groups()
    if hero is not None:
        if hero != about.hero_image and hero not in block:
            return False
        if _hash_fits(rest[head.start(2) - 2 if title is not None else head.end() :], about.content_hash):
            return True
    return _is_title(title, item, block) and _hash_fits(rest[head.end() :], about.content_hash)


def _is_title(heading: str | None, item: Item, block: str) -> bool:
    """Return whether a heading has the words of the page's title; how they are escaped has changed."""
    found, words = _TITLE.search(block), _words(heading or "")
    return heading is not None and words in (
        _words(page_values(item)["title"] or ""),
        _words(item.title),
        _words(found[1] if found else ""),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


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
