"""The table of contents of a book, as nested lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pagekeep.library.exports.article_html import escape_xml


@dataclass(slots=True)
class _Entry:
    html: str
    depth: int
    inner: list[_Entry] = field(default_factory=list)


def list_contents(lines: Sequence[tuple[tuple[str, ...], int, str]]) -> str:
    """Return the lines as nested lists: each has the headings above it, its level, and its HTML.

    Headings that the line before has too are not repeated. No level is skipped, whatever the lines say.
    """
    root = _Entry("", -1)
    open_entries = [root]
    before: tuple[str, ...] = ()
    for headings, level, html in lines:
        shared = next(
            (n for n, pair in enumerate(zip(headings, before, strict=False)) if pair[0] != pair[1]),
            min(len(headings), len(before)),
        )
        for depth in range(shared, len(headings)):
            _add(open_entries, _Entry(f"<span>{escape_xml(headings[depth])}</span>", depth))
        _add(open_entries, _Entry(html, max(level, len(headings))))
        before = headings
    return _write(root)


def _add(open_entries: list[_Entry], entry: _Entry) -> None:
    while open_entries[-1].depth >= entry.depth:
        open_entries.pop()
    open_entries[-1].inner.append(entry)
    open_entries.append(entry)


def _write(root: _Entry) -> str:
    """Write the tree without recursion: a navigation may be deep."""
    parts: list[str] = []
    waiting: list[_Entry | str] = [root]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            parts.append(one)
            continue
        parts.append(f"<li>{one.html}" if one is not root else "")
        waiting.append("</li>\n" if one is not root else "")
        if one.inner:
            parts.append("<ol>\n")
            waiting.append("</ol>")
            waiting += reversed(one.inner)
    return "".join(parts)
