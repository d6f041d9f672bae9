"""Parse YAML into an outline of values with their line numbers, in one bounded pass.

Rules need only lists, mappings and plain values. Anchors, aliases and tags are refused, because they can expand to
gigabytes or name a Python object; so are files above a size and nesting above a depth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

MAX_BYTES: Final = 1_000_000
"""Thirty times the largest shipped rule file (29 kB)."""
MAX_DEPTH: Final = 12
"""The schema nests five levels deep; a deeper file is wrong anyway."""
_QUOTE_HINT: Final = "Put selectors that start with * or [, and text with a colon, in quotes."
_ALIAS_HINT: Final = "Repeat the value instead. Put a selector that starts with * in quotes."
_MAX_PROBLEM_CHARS: Final = 120
"""Characters of the YAML parser's message that are quoted."""
_MAX_TAG_CHARS: Final = 60

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar: text, number, boolean or null. The type of the key decides which."""

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
    """A mapping: its pairs in file order, duplicate keys included."""

    line: int
    pairs: list[tuple[Value, Outline]] = field(default_factory=list)


Outline = Value | Items | Entries


class OutlineError(Exception):
    """The file cannot be parsed as rules at all."""

    def __init__(self, line: int, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.line, self.message, self.suggestion = line, message, suggestion


def outline(data: bytes | str) -> Outline | None:
    """Return the outline of a file, or `None` for an empty one; raise `OutlineError` when it cannot be parsed."""
    text = _text(data)
    try:
        return _build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context or "it cannot be parsed").rstrip(".")
        line = mark.line + 1 if mark else 1
        raise OutlineError(line, f"Invalid YAML: {problem}.", _QUOTE_HINT) from None
    except (yaml.YAMLError, ValueError) as error:
        problem = " ".join(str(error).split())[:_MAX_PROBLEM_CHARS]
        raise OutlineError(1, f"Invalid YAML: {problem}.") from None


def _text(data: bytes | str) -> str:
    if len(data) > MAX_BYTES:
        raise OutlineError(1, f"The file is larger than {MAX_BYTES:,} bytes.", "Split it into several files.")
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise OutlineError(line, "The file is not UTF-8.", "Save it as UTF-8.") from None


def _build(events: Iterator[Any]) -> Outline | None:
    """Build the outline of the only document in the stream, without recursion."""
    roots: list[Outline] = []
    pending: list[_Frame] = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent) and roots:
            raise OutlineError(_line(event), "A rule file contains one list of rules.", "Remove the line `---`.")
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
            roots.append(node)
    return roots[0] if roots else None


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
            raise OutlineError(node.line, "A key must be a word, not a list or a mapping.")


def _open(event: Any, depth: int) -> _Frame:
    if depth >= MAX_DEPTH:
        raise OutlineError(_line(event), f"A rule may be nested at most {MAX_DEPTH} levels deep.")
    is_list = isinstance(event, yaml.SequenceStartEvent)
    return _Frame(Items(_line(event)) if is_list else Entries(_line(event)))


def _value(event: Any) -> Value:
    return Value(_line(event), event.value, event.style is not None and event.style != "")


def _refuse_specials(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise OutlineError(_line(event), "Anchors (&) and aliases (*) are not allowed in rules.", _ALIAS_HINT)
    if event.tag is not None:
        raise OutlineError(
            _line(event), f"The tag `{event.tag[:_MAX_TAG_CHARS]}` is not allowed in rules.", "Remove it."
        )


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
