"""The library as lines of JSON, one an item, complete: what is read back is what was written."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final, get_args

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
from pagekeep.library.items import clean_tag
from pagekeep.model import Annotation, Item, QualityLevel
from pagekeep.store.metadata_json import metadata_from_json, metadata_to_json

MARK: Final = "pagekeep"
"""The first key of every line, by which the file is recognised."""
VERSION: Final = 1
LONGEST_TAG: Final = 200
MOST_TAGS: Final = 100

_LEFT_OUT: Final = frozenset({"user_id", "deleted_at"})
_NAMES: Final = tuple(field.name for field in fields(Item) if field.name not in _LEFT_OUT)
_MARKED: Final = tuple(field.name for field in fields(Annotation) if field.name != "item_id")
_MAY_LACK: Final = frozenset({"author", "published_at", "last_opened_at", "colour"})
_MOMENTS: Final = frozenset({"saved_at", "created_at", "updated_at", "last_opened_at"})


def write_line(item: Item, annotations: Sequence[Annotation] = ()) -> str:
    """An item with its marked passages as one line, without its end."""
    told: dict[str, Any] = {MARK: VERSION, **{name: getattr(item, name) for name in _NAMES}}
    # Engines give keys in orders of their own.
    told["metadata"] = json.loads(json.dumps(metadata_to_json(item.metadata), sort_keys=True))
    told["annotations"] = [{name: getattr(marked, name) for name in _MARKED} for marked in annotations]
    return json.dumps(told, ensure_ascii=False)


def read_line(line: str | Mapping[str, Any], user_id: str) -> tuple[Item, tuple[Annotation, ...]]:
    """The item and passages of a line, or of the object in it; `ParseError` says what is wrong with it."""
    told = _object(line) if isinstance(line, str) else line
    if told.get(MARK) != VERSION:
        raise ParseError("The line is no item of a library.", suggestions=())
    if not isinstance(told.get("metadata"), dict):
        raise ParseError("The item has no metadata.", suggestions=())
    values = {name: _text(told, name) for name in _NAMES if name != "metadata"}
    item = Item(**values, user_id=user_id, metadata=metadata_from_json(_metadata(told["metadata"])))  # type: ignore[arg-type]
    return _checked(item), tuple(_annotation(marked, item.id) for marked in told.get("annotations") or ())


def _object(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ParseError("The line is no JSON.", suggestions=()) from None
    if not isinstance(found, dict):
        raise ParseError("The line is no JSON object.", suggestions=())
    return found


def _no_number(name: str) -> None:
    raise ValueError(name)


def _text(told: Mapping[str, Any], name: str) -> str | None:
    value = told.get(name)
    if value is None and name in _MAY_LACK:
        return None
    if not isinstance(value, str):
        raise ParseError(f"`{name}` is no text.", suggestions=())
    if name in _MOMENTS:
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise ParseError(f"`{name}` is no moment.", suggestions=()) from None
    return value


_SWITCHES: Final = frozenset({"pinned", "archived", "edited", "discarded", "used_js_rendering", "imported"})
_COUNTS: Final = frozenset({"word_count", "score", "parser_version", "retry_count"})
_LEVELS: Final = frozenset(get_args(QualityLevel))
_DEEPEST: Final = 20


def _metadata(told: Mapping[str, Any]) -> dict[str, Any]:
    """What the library reads is of the kind that it expects, whatever the file says; the rest is as it is."""
    if _depth(told) > _DEEPEST:
        raise ParseError("The metadata is nested too deep.", suggestions=())
    kept = {name: value for name, value in told.items() if _is_right(name, value)}
    if "tags" in kept:
        tags = [clean_tag(tag)[:LONGEST_TAG] for tag in kept["tags"] if isinstance(tag, str)]
        kept["tags"] = list(dict.fromkeys(tag for tag in tags if tag))[:MOST_TAGS]
    return kept


def _is_right(name: str, value: object) -> bool:
    if name in _SWITCHES:
        return isinstance(value, bool)
    if name in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    if name == "quality":
        return isinstance(value, str) and value in _LEVELS
    return isinstance(value, list) if name == "tags" else name != "notes" or isinstance(value, str)


def _depth(value: object) -> int:
    """How deep lists and objects are nested; no deeper than needed."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [value for values in inner for value in values]
        depth += 1
    return depth


def _checked(item: Item) -> Item:
    """The address in the form that makes two saves the same page, and an id that can be one."""
    try:
        url = normal_url.normalise(item.url)
    except PagekeepError as error:
        raise ParseError(error.message, suggestions=()) from None
    return replace(item, id=_id(item.id), url=url, domain=normal_url.domain(url))


def _id(value: str | None) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise ParseError("`id` is no UUID.", suggestions=()) from None


def _annotation(told: object, item_id: str) -> Annotation:
    if not isinstance(told, dict):
        raise ParseError("A marked passage is no object.", suggestions=())
    values = {name: _text(told, name) for name in _MARKED}
    return Annotation(**{**values, "id": _id(values["id"])}, item_id=item_id)  # type: ignore[arg-type]
