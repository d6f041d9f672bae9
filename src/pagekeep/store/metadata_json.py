"""The JSON form of an item's metadata, as it is stored and exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, get_args

from pagekeep.model import ItemMetadata, QualityLevel

_LEVELS: Final = frozenset(get_args(QualityLevel))
_TYPES: Final[dict[str, type]] = {
    **{field.name: str for field in fields(ItemMetadata) if field.name != "extra"},
    **dict.fromkeys(("pinned", "archived", "edited", "used_js_rendering", "discarded", "imported"), bool),
    **dict.fromkeys(("parser_version", "score", "word_count", "retry_count"), int),
    "tags": list,
    "last_error": Mapping,
}
_UNSET: Final = {"edited": False, "discarded": False, "imported": False, "retry_count": 0}
"""Values that are not written. `None` never is."""


def metadata_from_json(stored: Mapping[str, Any]) -> ItemMetadata:
    """Return the typed record; keys that are unknown or have a value of the wrong type go to `extra`."""
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in stored.items():
        kind = _TYPES.get(name)
        fits = kind is not None and isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
        (known if fits else extra)[name] = value
    if "tags" in known:
        known["tags"] = tuple(tag for tag in known["tags"] if isinstance(tag, str))
    if known.get("quality") not in _LEVELS and "quality" in known:
        extra["quality"] = known.pop("quality")
    return ItemMetadata(**known, extra=extra)


def metadata_to_json(metadata: ItemMetadata) -> dict[str, Any]:
    """Return the stored form: without what is not set, and with the keys that this version does not know."""
    known = {name: getattr(metadata, name) for name in _TYPES}
    known["tags"] = list(metadata.tags)
    known = {name: value for name, value in known.items() if value is not None and _UNSET.get(name) != value}
    return {**metadata.extra, **known}
