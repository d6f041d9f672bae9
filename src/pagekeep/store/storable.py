"""Values that both engines can store: items, their metadata as JSON, and the stamp by which damage to a text is found."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pagekeep import clock
from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import Item, ItemMetadata, Metadata, QualityLevel
from pagekeep.model.lists import page_values
from pagekeep.model.tags import unique_tags


def clean_text(text: str) -> str:
    """Remove NUL, which PostgreSQL cannot store in text; replace lone surrogates, which UTF-8 cannot encode, by U+FFFD."""
    text = text.replace("\x00", "") if "\x00" in text else text
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


ITEM_TIMES: Final = ("saved_at", "created_at", "updated_at", "last_opened_at", "deleted_at")
NO_ID: Final = str(uuid.UUID(int=0))
"""An id that nothing has."""
_USUAL_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def clean_id(value: str) -> str:
    """Return an id in its usual notation; what is not a UUID becomes the id that nothing has."""
    if _USUAL_ID.fullmatch(value):
        return value
    try:
        return str(uuid.UUID(value)) if len(value) == len(NO_ID) else NO_ID
    except ValueError:
        return NO_ID


def clean_time(value: str) -> str:
    """Return a time as the library stores it, in UTC and to the microsecond; `InvalidQuery` for what is not a time."""
    try:
        time = datetime.fromisoformat(value)
        return clock.format_time(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise InvalidQuery(f"{value:.40} is not a time.", suggestions=("Write it as 2025-03-19T10:30:00Z.",)) from None


def parse_json(value: Any) -> Any:
    """Return the value of a JSON column: SQLite gives text, PostgreSQL the value."""
    return json.loads(value) if isinstance(value, str) else value


def clean_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping that both engines return as it was stored; `StoreError` for values that JSON cannot hold."""
    try:
        cleaned = _plain(value)
        json.dumps(cleaned, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise StoreError("The metadata contains a value that JSON cannot hold.") from None
    return dict(cleaned)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return value


def clean_item(item: Item) -> Item:
    """Return the item in a form that both engines can store."""
    texts = {
        name: clean_text(value) for name in item.__dataclass_fields__ if isinstance(value := getattr(item, name), str)
    }
    times = {name: clean_time(value) for name in ITEM_TIMES if (value := getattr(item, name)) is not None}
    return replace(item, **(texts | times), metadata=clean_metadata(item.metadata))


def clean_metadata(metadata: ItemMetadata) -> ItemMetadata:
    """Return the metadata in a form that both engines can store, with each tag once."""
    cleaned = metadata_from_json(clean_json(metadata_to_json(metadata)))
    return replace(cleaned, tags=unique_tags(cleaned.tags), refused_tags=unique_tags(cleaned.refused_tags))


def url_hash(url: str) -> str:
    """Return the form of a URL in indexes: PostgreSQL cannot index texts of more than 2,700 bytes."""
    return hashlib.sha256(clean_text(url).encode()).hexdigest()


def domain_key(domain: str) -> str:
    """Return `com.example.blog.` for `blog.example.com`: a domain and its subdomains are then one range of keys."""
    return ".".join(reversed(domain.lower().strip(".")[:255].split("."))) + "."


_LEVELS: Final = frozenset(get_args(QualityLevel))


def _json_type(hint: Any) -> type:
    """Return the type that a value of this annotation has in JSON: `int` for `int | None`, `list` for a tuple."""
    if get_origin(hint) in (Union, UnionType):
        hint = next(option for option in get_args(hint) if option is not NoneType)
    origin: type = get_origin(hint) or hint
    return {tuple: list, Literal: str}.get(origin, origin)


TYPES: Final = {name: _json_type(hint) for name, hint in get_type_hints(ItemMetadata).items() if name != "extra"}
"""Field of `ItemMetadata` to the type of its value in JSON."""
_UNSET: Final = {"edited": False, "discarded": False, "failed": False, "imported": False, "retry_count": 0}
"""Values that are not written. `None` never is."""


def metadata_from_json(stored: Mapping[str, Any]) -> ItemMetadata:
    """Return the typed record; keys that are unknown or have a value of the wrong type go to `extra`."""
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in stored.items():
        kind = TYPES.get(name)
        fits = kind is not None and isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
        (known if fits else extra)[name] = value
    for name in ("tags", "suggested_tags", "refused_tags", "applied_rules", "attachments"):
        if name in known:
            known[name] = tuple(tag for tag in known[name] if isinstance(tag, str))
    if "heading_pages" in known:
        known["heading_pages"] = tuple(page for page in known["heading_pages"] if isinstance(page, int))
    for name in ("edits", "page_values"):
        if name in known:
            known[name] = {field: text for field, text in known[name].items() if text is None or isinstance(text, str)}
    if known.get("quality") not in _LEVELS and "quality" in known:
        extra["quality"] = known.pop("quality")
    return ItemMetadata(**known, extra=extra)


def metadata_to_json(metadata: ItemMetadata) -> dict[str, Any]:
    """Return the stored form: without what is not set, and with the keys that this version does not know."""
    known = {name: getattr(metadata, name) for name in TYPES}
    known["tags"] = list(metadata.tags)
    known["suggested_tags"] = list(metadata.suggested_tags) or None
    known["refused_tags"] = list(metadata.refused_tags) or None
    known["applied_rules"] = list(metadata.applied_rules) or None
    known["heading_pages"] = list(metadata.heading_pages) or None
    known["attachments"] = list(metadata.attachments) or None
    known = {name: value for name, value in known.items() if value is not None and _UNSET.get(name) != value}
    return {**metadata.extra, **known}


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
