"""Lists: tasks from checkboxes, and items from lines that were typed with a bullet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import is_blank, is_tag, parent_it_begins
from pagekeep.model import Removal

_BULLETS: Final = "\u2022\u25cf\u25aa\u25e6\u2023\u25a0\u25ba\u2219\u2043"
_MIN_ITEMS: Final = 2
"""A single line with a bullet is more often a line with a sign before it."""
_CELLS: Final = frozenset(("td", "th"))
_MAX_CHECKBOX_DEPTH: Final = 6
"""Boxes between a checkbox and its list item: labels, spans and a paragraph."""

Line = list[dom.Node]


def mark_tasks(state: CleanState) -> list[Removal]:
    """Turn list items that begin with a checkbox into tasks."""
    removals = Removals(state.changes)
    if not state.index.has_tag("input"):
        return removals
    for box in dom.select(state.root, "li input[type=checkbox]"):
        item = _item_it_begins(box)
        if item is None:
            removals.drop(box, "form control")
            continue
        dom.set_attr(item, "class", "task")
        dom.set_attr(item, "data-done", "true" if box.attr("checked") is not None else "false")
        dom.drop(box)
    return removals


def _item_it_begins(box: dom.Element) -> dom.Element | None:
    """Return the list item that shows nothing before this checkbox."""
    node: dom.Element = box
    for _ in range(_MAX_CHECKBOX_DEPTH):
        parent = parent_it_begins(node)
        if parent is None or parent.tag == "li":
            return parent
        node = parent
    return None


def make_bullet_lists(state: CleanState) -> None:
    """Turn neighbouring lines that begin with a bullet into a list; remove bullets typed into list items."""
    text = dom.text_of(state.root)
    if text.isascii() or not any(bullet in text for bullet in _BULLETS):
        return
    for item in state.index.find("li"):
        if bullet := _bullet(item.children):
            _remove_bullet(bullet)
    lists: list[dom.Element] = []
    for paragraph in state.index.find("p"):
        if not (isinstance(paragraph.parent, dom.Element) and paragraph.parent.tag in _CELLS):
            lists += _split_into_lists(paragraph)
    for list_ in lists:
        _finish_list(list_)


def _split_into_lists(paragraph: dom.Element) -> list[dom.Element]:
    """Replace the paragraph by lists of its lines with bullets and paragraphs of the others; return the lists."""
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
    """Return the paragraph's nodes, split at its line breaks."""
    lines: list[Line] = [[]]
    for node in paragraph.children:
        if is_tag(node, "br"):
            lines.append([])
        else:
            lines[-1].append(node)
    return [line for line in lines if not all(map(is_blank, line))]


def _bullet(nodes: Sequence[dom.Node]) -> dom.Text | None:
    """Return the text node that begins the line if its first character is a bullet."""
    node = next((node for node in nodes if not is_blank(node)), None)
    while isinstance(node, dom.Element):
        node = next((child for child in node.children if not is_blank(child)), None)
    begins = isinstance(node, dom.Text) and node.data.lstrip()[:1] in _BULLETS
    return node if begins else None  # type: ignore[return-value]


def _remove_bullet(text: dom.Text) -> None:
    rest = text.data.lstrip()[1:].lstrip()
    dom.replace(text, rest) if rest else dom.drop(text)


def _finish_list(list_: dom.Element) -> None:
    """Join the lists right after this one to it; turn a list of one item back into a paragraph."""
    if list_.parent is None:
        return
    following = dom.next_element(list_)
    while following is not None and is_tag(following, "ul") and _bullet_of_first(following):
        dom.append(list_, *following.children)
        dom.drop(following)
        following = dom.next_element(list_)
    items = list(list_.children)
    if len(items) < _MIN_ITEMS:
        for item in items:
            dom.retag(item, "p")  # type: ignore[arg-type]
        dom.unwrap(list_)
        return
    for item in items:
        if isinstance(item, dom.Element) and (text := _bullet(item.children)):
            _remove_bullet(text)


def _bullet_of_first(list_: dom.Element) -> bool:
    """Return whether the list was made by this step and still has its bullets."""
    first = next((child for child in list_.children if isinstance(child, dom.Element)), None)
    return first is not None and _bullet(first.children) is not None
