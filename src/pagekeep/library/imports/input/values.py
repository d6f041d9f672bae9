"""Values as exports write them: moments, yes and no, tags, passages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pagekeep.library.imports.input.row import Highlight

_NUMBER: Final = re.compile(r"[0-9]{1,17}(?:\.[0-9]{0,9})?")
_MILLISECONDS: Final = 100_000_000_000
_MICROSECONDS: Final = 100_000_000_000_000
"""Numbers from here on count milliseconds or microseconds: as seconds they would be thousands of years away."""
_OTHER_DATES: Final = ("%m/%d/%Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d", "%a %b %d %Y %H:%M:%S")
_TRUE: Final = frozenset({"1", "true", "yes", "y", "x"})
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"")
_ESCAPED: Final = re.compile(r"\\(.)")
_LONGEST_LIST: Final = 50_000


def moment(value: object) -> str | None:
    """The moment, as the library writes it; `None` for what is none. Seconds, milliseconds and microseconds since 1970,
    and dates; without a time zone they are in UTC."""
    found = _moment(value)
    if found is None or found.year < 1990:
        return None
    return found.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def published(value: object) -> str | None:
    """When the page was published: a day where no more is known."""
    written = moment(value)
    if written is None:
        return None
    return written[:10] if written.endswith("T00:00:00.000000Z") else f"{written[:19]}Z"


def _moment(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = value.strip()[:60] if isinstance(value, str) else ""
    try:
        if not isinstance(value, str) or _NUMBER.fullmatch(text):
            return _since_1970(float(text or value))
        return _date(text)
    except (ValueError, OverflowError, OSError):
        return None


def _since_1970(number: float) -> datetime | None:
    if number <= 0:
        return None
    if number >= _MICROSECONDS:
        number /= 1_000_000
    elif number >= _MILLISECONDS:
        number /= 1_000
    return datetime.fromtimestamp(number, UTC)


def _date(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        found = _other_date(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _other_date(text: str) -> datetime:
    for form in _OTHER_DATES:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    raise ValueError(text)


def truth(value: object) -> bool:
    """Yes or no, in any of the ways programs write it."""
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


def text(value: object) -> str:
    """The value if it is a text or a number, else nothing."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def names(value: object, separator: str = ",") -> tuple[str, ...]:
    """Tags: a list of texts or of objects with a name, that list written as text, or texts with a separator between."""
    if isinstance(value, (list, tuple)):
        return tuple(filter(None, map(_name, value[:1_000])))
    if not isinstance(value, str):
        return ()
    written = value.strip()[:_LONGEST_LIST]
    if written.startswith("[") and written.endswith("]"):
        return _written_list(written)
    return tuple(filter(None, (part.strip() for part in written.split(separator))))


def _name(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("label") or value.get("title")
    return text(value)


def _written_list(written: str) -> tuple[str, ...]:
    """A list as JSON or Python writes it."""
    try:
        return names(json.loads(written))
    except (ValueError, RecursionError):
        found = (_ESCAPED.sub(r"\1", match[1] or match[2] or "") for match in _QUOTED.finditer(written))
        return tuple(filter(None, (name.strip() for name in found)))


def highlights(value: object) -> tuple[Highlight, ...]:
    """Marked passages, from a list of objects: the names of their parts differ from program to program."""
    if not isinstance(value, list):
        return ()
    found = (_highlight(entry) for entry in value[:10_000] if isinstance(entry, Mapping))
    return tuple(mark for mark in found if mark.quote or mark.note)


def _highlight(entry: Mapping[str, Any]) -> Highlight:
    quote = text(entry.get("quote")) or text(entry.get("content")) or text(entry.get("text"))
    note = text(entry.get("note")) or text(entry.get("annotation")) or text(entry.get("comment"))
    if not note and entry.get("quote"):  # then `text` is what the reader said about it
        note = text(entry.get("text"))
    created = next((entry[name] for name in ("created_at", "createdAt", "created", "time") if entry.get(name)), None)
    return Highlight(quote, note, moment(created), text(entry.get("color")) or text(entry.get("colour")) or None)
