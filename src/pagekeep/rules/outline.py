"""YAML as an outline of values with their lines, in one bounded pass.

Rules need lists, mappings and plain values, nothing else: anchors, aliases and tags are refused (one file of them can
unfold to gigabytes, or name a Python object), and so are files beyond a size and nests beyond a depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 12
_SIGNS: Final = "Selectors that begin with * or [ go in quotes, and so do texts with a colon."
_QUOTE: Final = "Write it out; a selector that begins with * goes in quotes."

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Value:
    """A text, number, switch or nothing; which of them, the reader of the key decides."""

    line: int
    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    line: int
    items: list[Outline] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping, its pairs as they stand in the file, doubles included."""

    line: int
    pairs: list[tuple[Value, Outline]] = field(default_factory=list)


Outline = Value | Items | Entries


class OutlineError(Exception):
    """The text cannot be read as rules at all."""

    def __init__(self, line: int, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.line, self.message, self.suggestion = line, message, suggestion


def outline(data: bytes | str) -> Outline | None:
    """The outline of a file; `None` for an empty one. Raises `OutlineError`."""
    text = _text(data)
    try:
        return _build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = str(error.problem or error.context or "it cannot be read").rstrip(".")
        line = mark.line + 1 if mark else 1
        raise OutlineError(line, f"This is no valid YAML: {said}.", _SIGNS) from None
    except (yaml.YAMLError, ValueError) as error:
        said = " ".join(str(error).split())[:120]
        raise OutlineError(1, f"This is no valid YAML: {said}.") from None


def _text(data: bytes | str) -> str:
    if len(data) > MAX_BYTES:
        raise OutlineError(1, f"The file is larger than {MAX_BYTES:,} bytes.", "Part it into several files.")
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise OutlineError(line, "The file is not UTF-8.", "Save it as UTF-8.") from None


def _build(events: Iterator[Any]) -> Outline | None:
    """The outline of the stream's one document, built without recursion."""
    found: list[Outline] = []
    pending: list[_Frame] = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent) and found:
            raise OutlineError(_line(event), "A file holds one list of rules.", "Remove the line `---`.")
        if isinstance(event, yaml.CollectionEndEvent):
            node: Outline = pending.pop().node
        elif isinstance(event, yaml.NodeEvent):
            _refuse_specials(event)
            if isinstance(event, yaml.CollectionStartEvent):
                pending.append(_open(event, len(pending)))
                continue
            node = _value(event)
        else:
            continue
        if pending:
            pending[-1].add(node)
        else:
            found.append(node)
    return found[0] if found else None


class _Frame:
    """A list or mapping that is not closed yet."""

    __slots__ = ("key", "node")

    def __init__(self, node: Items | Entries) -> None:
        self.node = node
        self.key: Value | None = None

    def add(self, node: Outline) -> None:
        if isinstance(self.node, Items):
            self.node.items.append(node)
        elif self.key is not None:
            self.node.pairs.append((self.key, node))
            self.key = None
        elif isinstance(node, Value):
            self.key = node
        else:
            raise OutlineError(node.line, "A key must be a word.")


def _open(event: Any, depth: int) -> _Frame:
    if depth >= MAX_DEPTH:
        raise OutlineError(_line(event), "This is nested too deep for a rule.")
    is_list = isinstance(event, yaml.SequenceStartEvent)
    return _Frame(Items(_line(event)) if is_list else Entries(_line(event)))


def _value(event: Any) -> Value:
    return Value(_line(event), event.value, event.style is not None and event.style != "")


def _refuse_specials(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise OutlineError(_line(event), "Anchors (&) and aliases (*) are not allowed in rules.", _QUOTE)
    if event.tag is not None:
        raise OutlineError(_line(event), f"The tag `{event.tag[:60]}` is not allowed in rules.", "Remove it.")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
