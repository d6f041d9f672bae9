"""Values that both engines can store: what one of them cannot is replaced before, so that both store the same."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import Item, ItemMetadata
from pagekeep.model.tags import unique_tags
from pagekeep.store.metadata_json import metadata_from_json, metadata_to_json


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
