"""Read the article from the stream that React pages carry for their scripts: `self.__next_f.push([1, "..."])`.

The stream is rows of `id:value`, cut into pieces at any place. A value is JSON, in which `["$", tag, key, props]` is an element
and `"$1a"` the row of that id, or `T` with a length in bytes and a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pagekeep import dom
from pagekeep.text import compile_lazily

_PUSH: Final = compile_lazily(r"self\.__next_f\.push\((\[1,.*\])\)\s*;?\s*$", re.DOTALL)
_ROW: Final = compile_lazily(rb"([0-9a-f]{1,8}):(?:T([0-9a-f]{1,8}),)?")
_REFERENCE: Final = compile_lazily(r"\$[0-9a-f]{1,8}")

# Bounds on work and memory, so that no page makes this expensive.
_MAX_PIECES: Final = 2_000
"""Scripts of one page that are read."""
_MAX_CHARS: Final = 2_000_000
"""Characters of the stream."""
_MAX_ROWS: Final = 10_000
"""Rows of the stream."""
_MAX_VALUES: Final = 100_000
"""Values of all rows that are looked at."""
_MAX_BLOCKS: Final = 5_000
"""Blocks of one text."""
_MAX_DEPTH: Final = 100
"""Levels of elements and references within each other."""

_BLOCKS: Final = frozenset("p h1 h2 h3 h4 h5 h6 li blockquote pre td th dt dd figcaption".split())
_SKIPPED: Final = frozenset(
    "head title meta link script style noscript template nav footer header aside form button svg select dialog iframe".split()
)


def find_body(page: dom.Node) -> dom.Element | None:
    """Return the paragraphs, headings and lists in the stream as an element, or `None` when there are none."""
    reader = _Reader(_read_rows(_join_pieces(page)))
    blocks = reader.read_blocks()
    if not blocks:
        return None
    root = dom.element("div", None, *blocks)
    dom.bound_depth(root)
    return root


def _join_pieces(page: dom.Node) -> str:
    """Return the pieces of the stream as one text."""
    pieces: list[str] = []
    chars_left = _MAX_CHARS
    for script in dom.select(page, "script:not([src])")[:_MAX_PIECES]:
        source = dom.text_of(script).strip()
        found = _PUSH.match(source)
        if not found:
            continue
        chars_left -= len(source)
        if chars_left < 0:
            break
        try:
            value = json.loads(found[1])
        except (ValueError, RecursionError):
            continue
        if len(value) > 1 and isinstance(value[1], str):
            pieces.append(value[1])
    return "".join(pieces)


def _read_rows(stream: str) -> dict[str, Any]:
    """Return the values by id, in order; texts have a length in bytes, all other rows end with a line break."""
    data = stream.encode("utf-8", "surrogatepass")
    rows: dict[str, Any] = {}
    place = 0
    for _ in range(_MAX_ROWS):
        found = _ROW.match(data, place)
        if found and found[2]:
            place = found.end() + int(found[2], 16)
            rows[found[1].decode()] = data[found.end() : place].decode("utf-8", "replace")
            continue
        end = data.find(b"\n", place)
        line = data[place : end if end >= 0 else len(data)]
        if found:
            # Rows with a letter before the value are modules, hints and errors, not JSON.
            with suppress(ValueError, RecursionError):
                rows[found[1].decode()] = json.loads(line[found.end() - place :].decode("utf-8", "replace"))
        if end < 0:
            break
        place = end + 1
    return rows


class _Reader:
    """Finds the blocks of text in the rows."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self._rows = rows
        self._left = _MAX_VALUES
        self._used: set[str] = set()

    def read_blocks(self) -> list[dom.Element]:
        """Return the blocks of all rows in the order in which the page shows them."""
        blocks: list[dom.Element] = []
        for name, value in self._rows.items():
            if name not in self._used and not isinstance(value, str):
                blocks += self._find_blocks(value, 0)
        return blocks[:_MAX_BLOCKS]

    def _find_blocks(self, value: Any, depth: int) -> Iterator[dom.Element]:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return
        if isinstance(value, str):
            if _REFERENCE.fullmatch(value) and value[1:] not in self._used:
                self._used.add(value[1:])
                target = self._rows.get(value[1:])
                if not isinstance(target, str):
                    yield from self._find_blocks(target, depth + 1)
        elif _is_element(value):
            yield from self._read_element(value, depth)
        elif isinstance(value, list):
            for inner in value:
                yield from self._find_blocks(inner, depth + 1)
        elif isinstance(value, dict):
            html = value.get("__html")
            if isinstance(html, str):
                yield from _parse(self._resolve(html))
            else:
                for inner in value.values():
                    yield from self._find_blocks(inner, depth + 1)

    def _read_element(self, value: list[Any], depth: int) -> Iterator[dom.Element]:
        tag, props = value[1], value[3]
        if tag in _SKIPPED:
            return
        if tag in _BLOCKS:
            if text := " ".join(self._read_text(props.get("children"), 0).split()):
                yield dom.element(tag if tag not in ("td", "th", "dt", "dd", "figcaption") else "p", None, text)
            return
        yield from self._find_blocks(props, depth + 1)

    def _read_text(self, value: Any, depth: int) -> str:
        """Return the text of an element's children."""
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return ""
        if isinstance(value, str):
            return self._resolve(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if _is_element(value):
            return "" if value[1] in _SKIPPED else self._read_text(value[3].get("children"), depth + 1)
        if isinstance(value, list):
            return "".join(self._read_text(inner, depth + 1) for inner in value)
        return ""

    def _resolve(self, text: str) -> str:
        """Return the text that a reference names, or the text itself; a leading `$$` is a dollar sign."""
        if _REFERENCE.fullmatch(text):
            target = self._rows.get(text[1:])
            return target if isinstance(target, str) else ""
        return text[1:] if text.startswith("$$") else "" if text.startswith("$") else text


def _is_element(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= 4
        and value[0] == "$"
        and isinstance(value[1], str)
        and isinstance(value[3], dict)
    )


def _parse(html: str) -> list[dom.Element]:
    """Return HTML as elements, without what is never text."""
    if "<" not in html:
        return [dom.element("p", None, line) for line in html.splitlines() if line.strip()]
    root = dom.parse_fragment(html)
    for node in dom.select(root, ", ".join(sorted(_SKIPPED))):
        dom.drop(node)
    return [root]
