"""The JSON form of an item's metadata, as it is stored and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final, get_args

from pagekeep.model import ItemMetadata, QualityLevel

_LEVELS: Final = frozenset(get_args(QualityLevel))


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    **dict.fromkeys((field.name for field in fields(ItemMetadata)), _is_text),
    **dict.fromkeys(("pinned", "archived", "edited", "used_js_rendering", "discarded", "imported"), _is_flag),
    **dict.fromkeys(("parser_version", "score", "word_count", "retry_count"), _is_integer),
    "quality": lambda value: isinstance(value, str) and value in _LEVELS,
    "tags": lambda value: isinstance(value, list),
    "last_error": lambda value: isinstance(value, Mapping),
}
del _CHECKS["extra"]
_UNSET: Final = {"edited": False, "discarded": False, "imported": False, "retry_count": 0}
"""Values that are not written. `None` never is."""


def metadata_from_json(stored: Mapping[str, Any]) -> ItemMetadata:
    """Return the typed record; keys that are unknown or have a value of the wrong type go to `extra`."""
    known = {name: value for name, value in stored.items() if name in _CHECKS and _CHECKS[name](value)}
    if "tags" in known:
        known["tags"] = tuple(tag for tag in known["tags"] if isinstance(tag, str))
    return ItemMetadata(**known, extra={name: value for name, value in stored.items() if name not in known})


def metadata_to_json(metadata: ItemMetadata) -> dict[str, Any]:
    """Return the stored form: without what is not set, and with the keys that this version does not know."""
    known = {name: getattr(metadata, name) for name in _CHECKS}
    known["tags"] = list(metadata.tags)
    known = {name: value for name, value in known.items() if value is not None and _UNSET.get(name) != value}
    return {**metadata.extra, **known}
