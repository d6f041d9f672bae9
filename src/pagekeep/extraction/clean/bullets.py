"""Lists that were typed: lines that begin with a bullet become items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.vocabulary import is_blank, is_tag

_BULLETS: Final = "\u2022\u25cf\u25aa\u25e6\u2023\u25a0\u25ba\u2219\u2043"
_FEWEST: Final = 2
"""One line with a bullet may be a line with a sign before it."""
_CELLS: Final = frozenset(("td", "th"))

Line = list[dom.Node]


def settle_bullets(root: dom.Element) -> None:
    """Make lists of neighbouring lines with bullets; take the bullets off items that have their own."""
    text = dom.text_of(root)
    if text.isascii() or not any(bullet in text for bullet in _BULLETS):
        return
    for item in dom.tagged(root, ("li",)):
        if mark := _bullet(item.children):
            _strike(mark)
    made: list[dom.Element] = []
    for paragraph in dom.tagged(root, ("p",)):
        if not (isinstance(paragraph.parent, dom.Element) and paragraph.parent.tag in _CELLS):
            made += _listed(paragraph)
    for list_ in made:
        _settle_made(list_)


def _listed(paragraph: dom.Element) -> list[dom.Element]:
    """Put a list where a paragraph has lines with bullets, and paragraphs around it where it has others."""
    lines = _lines(paragraph)
    if not any(map(_bullet, lines)):
        return []
    blocks: list[dom.Element] = []
    for line in lines:
        tag = "ul" if _bullet(line) else "p"
        if not blocks or blocks[-1].tag != tag:
            blocks.append(dom.element(tag))
        elif tag == "p":
            dom.append(blocks[-1], dom.element("br"))
        dom.append(blocks[-1], *([dom.element("li", None, *line)] if tag == "ul" else line))
    dom.replace(paragraph, *blocks)
    return [block for block in blocks if block.tag == "ul"]


def _lines(paragraph: dom.Element) -> list[Line]:
    """The paragraph's nodes, parted at its line breaks."""
    lines: list[Line] = [[]]
    for node in paragraph.children:
        if is_tag(node, "br"):
            lines.append([])
        else:
            lines[-1].append(node)
    return [line for line in lines if not all(map(is_blank, line))]


def _bullet(nodes: Sequence[dom.Node]) -> dom.Text | None:
    """The text at the beginning of a line, when a bullet begins it and words follow."""
    node = next((node for node in nodes if not is_blank(node)), None)
    while isinstance(node, dom.Element):
        node = next((child for child in node.children if not is_blank(child)), None)
    begins = isinstance(node, dom.Text) and node.data.lstrip()[:1] in _BULLETS
    return node if begins else None  # type: ignore[return-value]


def _strike(mark: dom.Text) -> None:
    rest = mark.data.lstrip()[1:].lstrip()
    dom.replace(mark, rest) if rest else dom.drop(mark)


def _settle_made(made: dom.Element) -> None:
    """Join a list with the one right before it; a single line with a bullet is a paragraph as it was."""
    if made.parent is None:
        return
    following = dom.next_element(made)
    while following is not None and is_tag(following, "ul") and _bullet_of_first(following):
        dom.append(made, *following.children)
        dom.drop(following)
        following = dom.next_element(made)
    items = list(made.children)
    if len(items) < _FEWEST:
        for item in items:
            dom.retag(item, "p")  # type: ignore[arg-type]
        dom.unwrap(made)
        return
    for item in items:
        if isinstance(item, dom.Element) and (mark := _bullet(item.children)):
            _strike(mark)


def _bullet_of_first(list_: dom.Element) -> bool:
    """Whether a list was made here and its bullets are still there."""
    first = next((child for child in list_.children if isinstance(child, dom.Element)), None)
    return first is not None and _bullet(first.children) is not None
