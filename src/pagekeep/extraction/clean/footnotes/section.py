"""The section of footnotes at the end of the content."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.notes import MARK, Notes
from pagekeep.extraction.clean.vocabulary import HEADINGS, is_blank
from pagekeep.text import compile_lazily

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
