"""The short lines around the page's heading: where a page without better markup puts its author and its date."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep import dom

_MAX_NODES: Final = 300
_MAX_LINES: Final = 40
_LINE: Final = 90
"""A byline or a date is shorter than this."""
_MAX_LONG: Final = 2
"""Behind as many longer texts (a standfirst, a first paragraph) the article has begun."""
_MAX_BEFORE: Final = 40
_MAX_LINES_BEFORE: Final = 6
_SKIPPED: Final = frozenset(("script", "style", "noscript", "template", "svg"))


Line = tuple[str, dom.Element]
"""A line and the element it stands in."""


def lines(heading: dom.Element | None) -> list[Line]:
    """Short lines behind the heading in order, then those shortly ahead of it, nearest first."""
    if heading is None:
        return []
    ahead = [line for line in _lines(_before(heading)) if len(line[0]) <= _LINE][:_MAX_LINES_BEFORE]
    return [*_until_text(_lines(_after(heading))), *ahead]


def _lines(nodes: Iterator[dom.Node]) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, dom.Text) and (text := " ".join(node.data[:1000].split())):
            parent = node.parent
            if isinstance(parent, dom.Element) and parent.tag not in _SKIPPED:
                yield text, parent


def _until_text(found: Iterator[Line]) -> Iterator[Line]:
    """The short lines ahead of where the article's own text begins."""
    long = 0
    for line in islice(found, _MAX_LINES):
        if len(line[0]) <= _LINE:
            yield line
            continue
        long += 1
        if long >= _MAX_LONG:
            return


def _after(element: dom.Element) -> Iterator[dom.Node]:
    """Nodes behind the element in document order."""
    left = _MAX_NODES
    current: dom.Node | None = element
    while current is not None:
        beside = current.next_sibling
        while beside is not None:
            yield beside
            for node in dom.nodes(beside):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            beside = beside.next_sibling
            if left <= 0:
                return
        current = current.parent


def _before(element: dom.Element) -> Iterator[dom.Node]:
    """Nodes ahead of the element, its nearest siblings first and up to two levels up."""
    left = _MAX_BEFORE
    current: dom.Node | None = element
    for _ in range(3):
        beside = current.previous_sibling if current is not None else None
        while beside is not None and left > 0:
            yield beside
            for node in dom.nodes(beside):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            beside = beside.previous_sibling
        current = current.parent if current is not None else None
