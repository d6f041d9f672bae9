"""Export the library as JSON Lines, one complete item per line: reading a line back gives the same item."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Final, get_args

from pagekeep import clock
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
from pagekeep.model import Annotation, Item, QualityLevel
from pagekeep.model.reading import ReadingState, ReadState
from pagekeep.model.tags import clean_tags
from pagekeep.store.storable import TYPES, metadata_from_json, metadata_to_json

MARKER: Final = "pagekeep"
"""The first key of every line, which identifies the format."""
VERSION: Final = 1
MAX_TAGS: Final = 100

_OMITTED_FIELDS: Final = frozenset({"user_id", "deleted_at"})
_ITEM_FIELDS: Final = tuple(field.name for field in fields(Item) if field.name not in _OMITTED_FIELDS)
_ANNOTATION_FIELDS: Final = tuple(field.name for field in fields(Annotation) if field.name != "item_id")
_READING_FIELDS: Final = tuple(field.name for field in fields(ReadingState) if field.name != "item_id")
_OPTIONAL_FIELDS: Final = frozenset({"author", "published_at", "last_opened_at", "colour", "read_at"})
_TIME_FIELDS: Final = frozenset({"saved_at", "created_at", "updated_at", "last_opened_at", "read_at"})


def write_line(item: Item, annotations: Sequence[Annotation] = (), reading: ReadingState | None = None) -> str:
    """Return an item with its annotations, and how far it has been read, as one line, without the line end."""
    entry: dict[str, Any] = {MARKER: VERSION, **{name: getattr(item, name) for name in _ITEM_FIELDS}}
    # Databases return the keys in different orders.
    entry["metadata"] = json.loads(json.dumps(metadata_to_json(item.metadata), sort_keys=True))
    entry["annotations"] = [
        {name: getattr(annotation, name) for name in _ANNOTATION_FIELDS} for annotation in annotations
    ]
    if reading is not None and reading.updated_at:
        entry["reading"] = {name: getattr(reading, name) for name in _READING_FIELDS}
    return json.dumps(entry, ensure_ascii=False)


def read_line(line: str | Mapping[str, Any], user_id: str) -> tuple[Item, tuple[Annotation, ...]]:
    """Return the item and annotations of a line, or of its parsed object; raise `ParseError` when it is not valid."""
    entry = parse_object(line) if isinstance(line, str) else line
    if entry.get(MARKER) != VERSION:
        raise ParseError(f'The line is not an exported item: it has no `"{MARKER}": {VERSION}`.', suggestions=())
    if not isinstance(entry.get("metadata"), dict):
        raise ParseError("The item has no metadata.", suggestions=())
    values = {name: _text_field(entry, name) for name in _ITEM_FIELDS if name != "metadata"}
    metadata = metadata_from_json(_clean_metadata(entry["metadata"]))
    item = Item(**values, user_id=user_id, metadata=metadata)  # type: ignore[arg-type]
    annotations = entry.get("annotations") or []
    if not isinstance(annotations, list):
        raise ParseError("`annotations` is not a list.", suggestions=())
    return _check_item(item), tuple(_parse_annotation(value, item.id) for value in annotations)


def read_reading(entry: Mapping[str, Any], item_id: str) -> ReadingState | None:
    """Return how far the item of a parsed line has been read; `None` when it does not say; `ParseError` when it is wrong."""
    value = entry.get("reading")
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("state") not in get_args(ReadState):
        raise ParseError("`reading` is not valid.", suggestions=())
    progress, block, offset = (value.get(name, 0) for name in ("progress", "block", "offset"))
    if not all(isinstance(part, int | float) and 0 <= part < _MAX_COUNT for part in (progress, block, offset)):
        raise ParseError("`reading` has a number that is out of range.", suggestions=())
    times = {name: _text_field(value, name) for name in ("updated_at", "read_at")}
    return ReadingState(
        item_id,
        value["state"],
        value.get("chosen") is True,
        min(1.0, float(progress)),
        int(block),
        min(1.0, float(offset)),
        times["updated_at"] or "",
        times["read_at"],
    )


def parse_object(line: str) -> Mapping[str, Any]:
    """Return the object of a line; raise `ParseError` when it is not one."""
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ParseError("The line is not valid JSON.", suggestions=()) from None
    if not isinstance(value, dict):
        raise ParseError("The line is not a JSON object.", suggestions=())
    return value


def _refuse_constant(name: str) -> None:
    """Refuse `NaN` and `Infinity`, which Python reads though JSON does not have them."""
    raise ValueError(name)


def _text_field(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    if value is None and name in _OPTIONAL_FIELDS:
        return None
    if not isinstance(value, str):
        raise ParseError(f"`{name}` is not a text.", suggestions=())
    if name in _TIME_FIELDS:
        try:
            time = datetime.fromisoformat(value)
            return clock.format_time(time if time.tzinfo else time.replace(tzinfo=UTC))
        except (ValueError, OverflowError):
            raise ParseError(f"`{name}` is not a time in ISO 8601.", suggestions=()) from None
    return value


_LEVELS: Final = frozenset(get_args(QualityLevel))
_TAG_LISTS: Final = frozenset({"tags", "suggested_tags"})
_MAX_DEPTH: Final = 20
"""A limit against hostile files, not a measurement."""
_MAX_COUNT: Final = 2**53
"""Larger integers are not exact in JavaScript, which reads the metadata through the API."""


def _clean_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata without values of the wrong type for keys that the library reads."""
    if _nesting_depth(metadata) > _MAX_DEPTH:
        raise ParseError(f"The metadata is nested more than {_MAX_DEPTH} levels deep.", suggestions=())
    try:
        json.dumps(metadata, allow_nan=False)
    except ValueError:  # a number such as 1e999
        raise ParseError("The metadata has a number that is too large.", suggestions=()) from None
    clean = {name: value for name, value in metadata.items() if _has_right_type(name, value)}
    for name in _TAG_LISTS & clean.keys():
        clean[name] = list(clean_tags(tag for tag in clean[name] if isinstance(tag, str)))[:MAX_TAGS]
    return clean


def _has_right_type(name: str, value: object) -> bool:
    if TYPES.get(name) is bool:
        return isinstance(value, bool)
    if TYPES.get(name) is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_COUNT
    if name == "quality":
        return isinstance(value, str) and value in _LEVELS
    return isinstance(value, list) if name in _TAG_LISTS else name != "notes" or isinstance(value, str)


def _nesting_depth(value: object) -> int:
    """Return how deeply lists and objects are nested, counting no further than the limit."""
    level, depth = [value], 0
    while level and depth <= _MAX_DEPTH:
        containers = [
            item.values() if isinstance(item, dict) else item for item in level if isinstance(item, (dict, list))
        ]
        level = [child for children in containers for child in children]
        depth += 1
    return depth


def _check_item(item: Item) -> Item:
    """Return the item with its address normalised and its id in the usual notation."""
    try:
        url = normal_url.normalise(item.url)
    except PagekeepError as error:
        raise ParseError(error.message, suggestions=()) from None
    return replace(item, id=_check_id(item.id), url=url, domain=normal_url.domain(url))


def _check_id(value: str | None) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise ParseError("`id` is not a UUID.", suggestions=()) from None


def _parse_annotation(entry: object, item_id: str) -> Annotation:
    if not isinstance(entry, dict):
        raise ParseError("An annotation is not a JSON object.", suggestions=())
    values = {name: _text_field(entry, name) for name in _ANNOTATION_FIELDS}
    return Annotation(**{**values, "id": _check_id(values["id"])}, item_id=item_id)  # type: ignore[arg-type]
