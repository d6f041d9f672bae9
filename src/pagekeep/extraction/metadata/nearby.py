"""Find the short lines around the page's heading, where pages without better markup state author and date."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.metadata.plain import squeeze

_MAX_NODES: Final = 300
"""Nodes walked after the heading."""
_MAX_LINES: Final = 40
_MAX_LINE_CHARS: Final = 90
"""A byline or a date is shorter than this."""
_MAX_TEXT_CHARS: Final = 1_000
"""Characters of a text node that are read to measure it."""
_MAX_LONG_TEXTS: Final = 2
"""After this many longer texts (a standfirst, a first paragraph) the article has begun."""
_MAX_NODES_BEFORE: Final = 40
_MAX_LINES_BEFORE: Final = 6
_LEVELS_BEFORE: Final = 3
"""The heading's own level and two above it, searched for what comes before the heading."""
_SKIPPED: Final = frozenset(("script", "style", "noscript", "template", "svg", "title"))
_NOT_SHOWN: Final = _SKIPPED | {"head", "option", "textarea", "button"}


_MAX_SEARCHED: Final = 3_000
"""Nodes searched for the title."""
_MAX_TITLE_CHARS: Final = 200
_MIN_TITLE_WIDTH: Final = 12
"""The title's width from which another text does not start like it by chance."""
_WIDE: Final = "\u2e80"
"""From here on, characters are mostly East Asian and count as two."""

Line = tuple[str, dom.Element]
"""A line and the element that contains it."""


def find_lines(heading: dom.Element | None) -> list[Line]:
    """Return the short lines after the heading in order, then those shortly before it, nearest first."""
    if heading is None:
        return []
    before = [line for line in _lines(_before(heading)) if len(line[0]) <= _MAX_LINE_CHARS][:_MAX_LINES_BEFORE]
    return [*_short_lines(_lines(_after(heading))), *before]


def find_text(document: dom.Document, title: str) -> dom.Element | None:
    """Return the first element that shows the start or the end of the squeezed title; a link only if nothing else does."""
    if width(title) < _MIN_TITLE_WIDTH:
        return None
    text_type, element_type = dom.Text, dom.Element
    link: dom.Element | None = None
    before: dom.Node | None = None
    for node in islice(dom.nodes(document), _MAX_SEARCHED):
        if type(node) is text_type and not (type(before) is element_type and before.tag in _NOT_SHOWN):
            data = node.data
            if len(data) >= _MIN_TITLE_WIDTH // 2 and _shows(data[:_MAX_TITLE_CHARS].strip(), title):
                parent = node.parent
                if isinstance(parent, dom.Element) and parent.tag != "a":
                    return parent
                link = link or (parent if isinstance(parent, dom.Element) else None)
        before = node
    return link


def _shows(text: str, title: str) -> bool:
    # Most texts start and end with other letters, which is quickly seen.
    if len(text) < _MIN_TITLE_WIDTH // 2 or not (
        text[0].lower() == title[0] or text[-1].lower() == title[-1] or not text[0].isalnum() or not text[-1].isalnum()
    ):
        return False
    text = squeeze(text)
    return (title.startswith(text) or title.endswith(text)) and width(text) >= _MIN_TITLE_WIDTH


def width(text: str) -> int:
    """Return how much a text says by its length: an East Asian character counts as two."""
    return len(text) + sum(char >= _WIDE for char in text)


def _lines(nodes: Iterator[dom.Node]) -> Iterator[Line]:
    for node in nodes:
        if isinstance(node, dom.Text) and (text := " ".join(node.data[:_MAX_TEXT_CHARS].split())):
            parent = node.parent
            if isinstance(parent, dom.Element) and parent.tag not in _SKIPPED:
                yield text, parent


def _short_lines(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the short lines up to where the article's text begins."""
    long_texts = 0
    for line in islice(lines, _MAX_LINES):
        if len(line[0]) <= _MAX_LINE_CHARS:
            yield line
            continue
        long_texts += 1
        if long_texts >= _MAX_LONG_TEXTS:
            return


def _after(element: dom.Element) -> Iterator[dom.Node]:
    """Yield the nodes after the element in document order."""
    left = _MAX_NODES
    current: dom.Node | None = element
    while current is not None:
        sibling = current.next_sibling
        while sibling is not None:
            yield sibling
            for node in dom.nodes(sibling):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            sibling = sibling.next_sibling
            if left <= 0:
                return
        current = current.parent


def _before(element: dom.Element) -> Iterator[dom.Node]:
    """Yield the nodes before the element, nearest siblings first, and those before its parent and grandparent."""
    left = _MAX_NODES_BEFORE
    current: dom.Node | None = element
    for _ in range(_LEVELS_BEFORE):
        sibling = current.previous_sibling if current is not None else None
        while sibling is not None and left > 0:
            yield sibling
            for node in dom.nodes(sibling):
                left -= 1
                if left <= 0:
                    return
                yield node
            left -= 1
            sibling = sibling.previous_sibling
        current = current.parent if current is not None else None
