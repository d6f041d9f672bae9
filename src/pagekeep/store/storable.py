"""Values made storable: what one of the engines cannot hold is replaced before either sees it, so that both hold the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pagekeep.errors import StoreError
from pagekeep.model import Item, ItemMetadata
from pagekeep.store.metadata_json import metadata_from_json, metadata_to_json


def clean_text(text: str) -> str:
    """Without NUL (PostgreSQL has none in texts); lone surrogates, which UTF-8 cannot carry, become U+FFFD."""
    text = text.replace("\x00", "") if "\x00" in text else text
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def parse_json(value: Any) -> Any:
    """Return the value of a JSON column: SQLite gives text, PostgreSQL the value."""
    return json.loads(value) if isinstance(value, str) else value


def clean_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping that both engines give back as it was put in."""
    try:
        cleaned = _plain(value)
        json.dumps(cleaned, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise StoreError("The metadata holds something that JSON cannot.") from None
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
    """The item as both engines can hold it."""
    texts = {
        name: clean_text(value) for name in item.__dataclass_fields__ if isinstance(value := getattr(item, name), str)
    }
    return replace(item, **texts, metadata=clean_metadata(item.metadata))


def clean_metadata(metadata: ItemMetadata) -> ItemMetadata:
    """The metadata as both engines can hold it."""
    return metadata_from_json(clean_json(metadata_to_json(metadata)))


def url_hash(url: str) -> str:
    """Stands for the URL in indexes: PostgreSQL refuses to index texts of more than 2,700 bytes."""
    return hashlib.sha256(clean_text(url).encode()).hexdigest()


def domain_key(domain: str) -> str:
    """`blog.example.com` as `com.example.blog.`: a domain and all below it are then one range of keys."""
    return ".".join(reversed(domain.lower().strip(".")[:255].split("."))) + "."
