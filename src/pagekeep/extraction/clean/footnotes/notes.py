"""Footnotes found so far, their marks and references, and the section at the end of the content."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import HEADINGS, Removals, is_blank
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


_SECTION_NAME: Final = compile_lazily(
    r"(?i)(?:foot|end)?notes?|references|citations|(?:notes and references|references and (?:foot)?notes)|"
    r"fu(?:ß|ss)noten?|anmerkungen?|notes? de bas de page|notas?(?: al pie| de rodapé| a pie de página)?|"
    r"note a piè di pagina|voetnoten|fotnoter|noter|viitteet|alaviitteet|przypisy|poznámky|lábjegyzetek|dipnotlar|"
    r"сноски|примечания|примітки|υποσημειώσεις|脚注|註釋|注释|註解|注|각주|주석|chú thích|הערות שוליים|الهوامش|الحواشي"
)
_PART_NAME: Final = compile_lazily(r"(?i)references|citations")
_MAX_ANNOUNCEMENT_CHARS: Final = 59
"""A heading of notes is short."""
_MAX_EMPTY_BOXES: Final = 6
"""Boxes around the notes that are removed when empty."""
_HEADING_OF_NOTES: Final = "heading of the footnotes"


def write_section(root: dom.Element, notes: Notes) -> None:
    """Move all notes into one list at the end, and remove the boxes and headings they leave empty."""
    items = dom.element("ol")
    dom.append(root, dom.element("section", {"class": "footnotes"}, items))
    announced: list[dom.Element] = []
    holders: dict[dom.Element, None] = {}
    for number, body in enumerate(notes.bodies, 1):
        holder, before = body.parent, dom.previous_element(body)
        if before is not None and _goes_with_notes(before):
            announced.append(before)
        _move_note(number, body, items)
        if isinstance(holder, dom.Element):
            holders[holder] = None
    for place in holders:
        _drop_empty_place(place, root, notes)
    for heading in announced:
        _drop_announcement(heading, notes)


def _move_note(number: int, body: dom.Element, items: dom.Element) -> None:
    term = dom.previous_element(body) if body.tag == "dd" else None
    if term is not None and term.tag == "dt" and MARK.fullmatch(dom.text_of(term).strip()):
        dom.drop(term)
    item = dom.element("li", {"id": f"fn-{number}"})
    dom.append(items, item)
    if body.tag == "p":
        dom.append(item, body)
        return
    for child in list(body.children):
        cells = isinstance(child, dom.Element) and child.tag in ("td", "th")
        dom.append(item, *(child.children if cells else (child,)))
    if body.parent is not None:
        dom.drop(body)


def _drop_announcement(heading: dom.Element, notes: Notes) -> None:
    """Remove the heading or rule above moved notes if nothing else follows it."""
    after = dom.next_element(heading)
    if after is None or after.tag in HEADINGS or after.attr("class") == "footnotes":
        before = dom.previous_element(heading)
        notes.removals.drop(heading, _HEADING_OF_NOTES)
        if before is not None and before.tag == "hr":
            dom.drop(before)


def _drop_empty_place(holder: dom.Element, root: dom.Element, notes: Notes) -> None:
    """Remove the box that held the notes, and their heading, if nothing else is left in it."""
    for _ in range(_MAX_EMPTY_BOXES):
        if holder is root or any(not is_blank(child) and not _goes_with_notes(child) for child in holder.children):
            break
        parent = holder.parent
        if not isinstance(parent, dom.Element):
            return
        before = dom.previous_element(holder)
        notes.removals.drop(holder, _HEADING_OF_NOTES)
        if before is not None and _goes_with_notes(before):
            _drop_announcement(before, notes)
        holder = parent


def _goes_with_notes(node: dom.Node) -> bool:
    """Return whether a heading means nothing without the notes; "References" names a part of the page."""
    is_part = isinstance(node, dom.Element) and node.tag in HEADINGS and _PART_NAME.search(dom.text_of(node))
    return is_announcement(node) and not is_part


def is_announcement(node: dom.Node) -> bool:
    """Return whether the node is a rule or a heading such as "Notes" that announces notes."""
    if not isinstance(node, dom.Element):
        return False
    if node.tag == "hr":
        return True
    if node.tag in HEADINGS or node.tag in ("p", "div", "strong", "b", "span"):
        text = dom.text_of(node)
        return (
            len(text) <= _MAX_ANNOUNCEMENT_CHARS
            and _SECTION_NAME.fullmatch(text.replace("[edit]", "").strip(" \n:")) is not None
        )
    return False
