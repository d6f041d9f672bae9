"""Footnotes found so far, their marks and references."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.clean.vocabulary import is_blank
from pagekeep.text import compile_lazily

MARK: Final = compile_lazily(
    r"(?i)[\[(]?\s*(?:(?:note|nb|fn|lower-alpha)\s*)?(\d{1,4}(?:[:.-]\d{1,2})?|[a-z]{1,2}|[ivxlc]{1,6}|[*†‡§¶‖]{1,4})\s*[\])]?[.,:]?"
)
_LEADING: Final = compile_lazily(r"\s*(?:[\[(]?\d{1,4}[\])]|\d{1,4}[.):]|[\^↑*†‡])(?:\s+|$)|\s*[\]).:]\s*|\s+")
_MARK_BOXES: Final = frozenset(("sup", "strong", "b", "a", "span"))
_MAX_MARK_DEPTH: Final = 6
"""Boxes between a note and the mark at its beginning."""


class Notes:
    """The notes found so far, in order of first reference."""

    def __init__(self, removals: Removals) -> None:
        self.removals = removals
        self.bodies: list[dom.Element] = []
        self._numbers: dict[dom.Element, int] = {}

    def number(self, body: dom.Element) -> int:
        """Return the number of this note, the next free one if it is new."""
        if body not in self._numbers:
            self.bodies.append(body)
            self._numbers[body] = len(self.bodies)
        return self._numbers[body]

    def holds(self, body: dom.Element) -> bool:
        """Return whether the note has a number."""
        return body in self._numbers


def reference(number: int) -> dom.Element:
    """Return the element that refers to the note with this number."""
    link = dom.element("a", {"href": f"#fn-{number}"}, str(number))
    return dom.element("sup", {"class": "footnote-ref"}, link)


def strip_leading_mark(body: dom.Element) -> None:
    """Remove `1.`, `[1]`, `^` or what is left of them from the beginning of a note."""
    for child in body.children:
        if not is_blank(child):
            break
        dom.drop(child)
    node: dom.Node = body
    for _ in range(_MAX_MARK_DEPTH):
        visible = [child for child in node.children if not is_blank(child)]
        if not visible:
            return
        node = visible[0]
        if isinstance(node, dom.Text):
            _cut_leading(node)
            return
        if isinstance(node, dom.Element) and node.tag in _MARK_BOXES and _is_mark_box(node):
            after = node.next_sibling
            dom.drop(node)
            if isinstance(after, dom.Text):
                _cut_leading(after)
            return


def drop_mark_box(body: dom.Element) -> bool:
    """Remove the box or cell at the beginning of a note that has only its mark in brackets; return whether it had one."""
    first = next((child for child in body.children if not is_blank(child)), None)
    if not isinstance(first, dom.Element) or first.tag not in ("span", "td", "th", "div", "dt"):
        return False
    if not MARK.fullmatch(dom.text_of(first).strip(" \n\u00a0^↑")) or dom.next_element(first) is None:
        return False
    after = first.next_sibling
    dom.drop(first)
    if isinstance(after, dom.Text):
        dom.replace(after, after.data.lstrip())
    return True


def _is_mark_box(node: dom.Element) -> bool:
    """Return whether the element is only the note's own mark; letters in bold are words."""
    text = dom.text_of(node).strip()
    if MARK.fullmatch(text) is None or (node.tag == "a" and (node.attr("href") or "").startswith("http")):
        return False
    return node.tag == "sup" or text.strip("[](). ").isdecimal()


def _cut_leading(text: dom.Text) -> None:
    match = _LEADING.match(text.data)
    if match:
        dom.replace(text, text.data[match.end() :])
