"""Keys of pages: opaque text that says after which item the next page begins."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.store.storable import clean_text, clean_time

_MAX_NUMBER: Final = 2**62
"""A forged key may hold any number; integers of the engines have 64 bits."""


def write_key(kind: list[Any], *values: Any) -> str:
    """Return the key for a page of this kind of list."""
    return base64.urlsafe_b64encode(json.dumps([kind, *values]).encode()).decode().rstrip("=")


def read_key(key: str, kind: list[Any], *types: type) -> list[Any]:
    """Return the values of a key that was written for the same kind of list; `InvalidQuery` for any other text."""
    try:
        written_for, *values = json.loads(base64.urlsafe_b64decode(key.encode() + b"=="))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        written_for, values = None, []
    fits = written_for == kind and len(values) == len(types) and all(map(isinstance, values, types))
    if not fits or not all(0 <= value < _MAX_NUMBER for value in values if isinstance(value, int)):
        raise _foreign_key()
    return [clean_text(value) if isinstance(value, str) else value for value in values]


def read_time(value: str) -> str:
    """Return a time of a key, or the empty text of an item without one; `InvalidQuery` for any other text."""
    try:
        return clean_time(value) if value else ""
    except StoreError:
        raise _foreign_key() from None


def _foreign_key() -> InvalidQuery:
    return InvalidQuery("The page key does not belong to this list.", suggestions=("Start from the first page.",))
