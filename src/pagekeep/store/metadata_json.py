"""The JSON form of an item's metadata, as it is stored and exported."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pagekeep.model import ItemMetadata, QualityLevel

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
