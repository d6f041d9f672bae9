"""Footnotes without links: marks that are bare raised numbers."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.notes import Notes, reference, strip_leading_mark
from pagekeep.extraction.clean.footnotes.section import is_announcement
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import HEADINGS, ancestors, parent_it_begins
from pagekeep.text import compile_lazily

_NOTE_ID: Final = compile_lazily(r"(?i)(?:user-content-)?(?:fn|footnote|note|ft)[-_:.]?(\d{1,4})")
_MAX_BLOCKS_BEFORE: Final = 60
"""Blocks between a note and the rule or heading above it that announces notes."""
_CONTINUED: Final = frozenset(("p", "ul", "ol", "blockquote", "pre", "div"))
_MAX_CONTINUED_BLOCKS: Final = 6
"""Blocks that continue a note; more are text of the page."""
_MAX_MARK_DIGITS: Final = 3
"""A raised number with more digits is not a mark."""
_MAX_MARK_DEPTH: Final = 4
"""Boxes between a mark and the paragraph it begins."""
_MAX_DEPTH: Final = 12
"""Boxes between a mark and the note it may be inside of."""


def take_unlinked_notes(state: CleanState, notes: Notes) -> None:
    """Join marks that are raised numbers with notes that begin with the number or have it in their id."""
    marks = [sup for sup in state.index.find("sup") if _number(sup)]
    if not marks:
        return
    bodies: dict[str, dom.Element] = {}
    references: list[dom.Element] = []
    for mark in marks:
        block = _block_it_begins(mark)
        if block is None:
            references.append(mark)
        else:
            bodies.setdefault(_number(mark), block)
    for item in dom.select(state.root, "li[id],p[id],div[id]"):
        match = _NOTE_ID.fullmatch(item.attr("id") or "")
        if match:
            bodies.setdefault(match.group(1), item)
    for head in dom.select(state.root, "p > :is(strong,b):first-child"):
        block = _block_it_begins(head) if _number(head) else None
        if block is not None and _announcement_of(block) is not None:
            bodies.setdefault(_number(head), block)
    for mark in references:
        body = bodies.get(_number(mark))
        if body is not None and not _follows_digit(mark) and not _is_inside(mark, body):
            dom.replace(mark, reference(notes.number(body)))
    _join_continuations(notes)
    for body in notes.bodies:
        strip_leading_mark(body)


def _number(mark: dom.Element) -> str:
    """Return the number that a raised or bold mark shows, alone or in brackets; empty if it shows something else."""
    text = dom.text_of(mark).strip(" \n[]()")
    return text if text.isdecimal() and len(text) <= _MAX_MARK_DIGITS else ""


def _announcement_of(note: dom.Element) -> dom.Element | None:
    """Return the rule or heading above the note after which only notes follow."""
    before = dom.previous_element(note)
    for _ in range(_MAX_BLOCKS_BEFORE):
        if before is None or before.tag in HEADINGS or before.tag == "hr":
            break
        before = dom.previous_element(before)
    return before if before is not None and is_announcement(before) else None


def _join_continuations(notes: Notes) -> None:
    """Add the blocks that follow a note, up to the next one, to announced notes."""
    heads = set(notes.bodies)
    for body in notes.bodies:
        if body.tag != "p" or _announcement_of(body) is None:
            continue
        following = _following(body, heads)
        if following:
            inner = dom.element("p", None, *body.children)
            dom.append(body, inner, *following)
            dom.retag(body, "div")


def _following(body: dom.Element, heads: set[dom.Element]) -> list[dom.Element]:
    blocks: list[dom.Element] = []
    after = dom.next_element(body)
    while after is not None and after.tag in _CONTINUED and after not in heads:
        blocks.append(after)
        if len(blocks) > _MAX_CONTINUED_BLOCKS:
            return []
        after = dom.next_element(after)
    return blocks


def _block_it_begins(mark: dom.Element) -> dom.Element | None:
    """Return the paragraph or item that begins with this mark."""
    node: dom.Element = mark
    for _ in range(_MAX_MARK_DEPTH):
        parent = parent_it_begins(node)
        if parent is None:
            return None
        if parent.tag in ("p", "li", "dd", "aside"):
            return parent
        if parent.tag not in ("span", "strong", "b", "em", "i", "small", "div"):
            return None
        node = parent
    return None


def _follows_digit(mark: dom.Element) -> bool:
    before = mark.previous_sibling
    return isinstance(before, dom.Text) and before.data[-1:].isdigit()


def _is_inside(node: dom.Node, outer: dom.Element) -> bool:
    return any(above is outer for above in ancestors(node, _MAX_DEPTH))
