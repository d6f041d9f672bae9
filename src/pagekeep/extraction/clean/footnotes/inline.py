"""Footnotes written into the line: side notes, margin notes, and notes that a click or the pointer opens."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.notes import MARK, Notes, drop_mark_box, is_announcement, reference
from pagekeep.extraction.clean.state import (
    BLOCKS,
    CleanState,
    ancestors,
    class_names,
    fill,
    first_elements,
    shown_before,
)
from pagekeep.text import compile_lazily

_CLASS_PARTS: Final = ("idenote", "ide-note", "arginnote", "argin-note", "ootnote", "oot-note", "ndnote")
_SIDE_NOTES: Final = ",".join(f'[class*="{part}"]' for part in _CLASS_PARTS[:4])
_LATEXML: Final = "span.ltx_role_footnotemark,span.ltx_note.ltx_role_footnote"
_LINE_TAGS: Final = frozenset(
    ("span", "small", "i", "em", "cite", "mark", "d-footnote", "sup", "aside", "div", "section")
)
_MARK_TAGS: Final = frozenset(("sup", "a", "label", "input", "span", "button", "small"))
_MIN_WORDS: Final = 2
"""Words of a note; a single one is a mark or a label."""
_MAX_NOTE_ELEMENTS: Final = 400
"""More elements are a part of the page."""
_MAX_BOXES: Final = 6
"""Boxes around a note that hold only its mark."""
_MAX_LEVELS: Final = 40
_MAX_WORDS_AFTER_CUT: Final = 3
"""Words of the link behind the dots of a note that is cut short: "Continue reading"."""
_ADDRESS: Final = compile_lazily(r"(?:https?:|www\.)\S+")
_WORD: Final = compile_lazily(r"\w+")
_MARKS_IN_NOTE: Final = "sup.ltx_note_mark,.ltx_tag_note,.ltx_note_type,.sidenote-number,label,input,button"
_SIGNS: Final = "0123456789⊕+*†‡[]() \n\t\u00a0"


def note_selector(state: CleanState) -> str:
    """Return the selector of what may be a note in the line; empty if no class or tag in the content is one."""
    selector = state.index.class_selector(_CLASS_PARTS)
    return f"{selector},d-footnote".lstrip(",") if state.index.has_tag("d-footnote") else selector


def take_inline_notes(root: dom.Element, selector: str, notes: Notes) -> None:
    """Move notes that are written into the line to the end, and put references in their place."""
    candidates = [node for node in dom.select(root, selector) if node.tag in _LINE_TAGS and _is_note_text(node)]
    around = {above for node in candidates for above in ancestors(node, _MAX_LEVELS)}
    inner = [node for node in candidates if node not in around]
    targets: dict[str, dom.Element] | None = None
    for note in inner:
        place = _outer_place(note)
        if not _is_in_line(place):
            continue
        mark = _mark_before(place)
        link = _link_of(mark)
        if link is not None:
            targets = _targets(root) if targets is None else targets
            target = targets.get((link.attr("href") or "").partition("#")[2])
            if target is not None and not _is_around(place, target) and normalise_note(target) == normalise_note(note):
                notes.removals.drop(place, "footnote shown twice")
                continue
        if mark is not None:
            notes.removals.drop(mark, "mark of a footnote")
        _move(note, place, notes)


def take_latexml_notes(root: dom.Element, notes: Notes) -> None:
    """Move the notes that LaTeXML writes into the line to the end."""
    for note in dom.select(root, _LATEXML):
        if "ltx_role_footnotemark" in (note.attr("class") or ""):
            for part in dom.select(note, ".ltx_note_outer"):  # a second mark repeats only the mark
                notes.removals.drop(part, "repeated mark of a footnote")
            continue
        inner = dom.first(note, ".ltx_note_content")
        _move(inner if inner is not None else note, note, notes)


def _move(note: dom.Element, place: dom.Element, notes: Notes) -> None:
    for mark in dom.select(note, _MARKS_IN_NOTE):
        notes.removals.drop(mark, "mark of a footnote")
    body = dom.element("li", None, *note.children)
    _drop_toggle(place)
    dom.replace(place, reference(notes.number(body)))


def _drop_toggle(note: dom.Element) -> None:
    """Remove the label and checkbox that show a side note on small screens."""
    for _ in range(2):
        before = dom.previous_element(note)
        if before is not None and before.tag in ("label", "input") and not dom.text_of(before).strip(_SIGNS):
            dom.drop(before)


def _is_note_text(node: dom.Element) -> bool:
    """Return whether the element holds the words of a note and not only a mark."""
    text = dom.text_of(node).strip()
    if len(_WORD.findall(text, 0, 200)) < _MIN_WORDS or MARK.fullmatch(text) or _ADDRESS.fullmatch(text):
        return False
    return len(first_elements(node, _MAX_NOTE_ELEMENTS)) < _MAX_NOTE_ELEMENTS


def _outer_place(note: dom.Element) -> dom.Element:
    """Return the outermost box around the note that holds nothing else but its mark."""
    place = note
    for box in ancestors(note, _MAX_BOXES):
        if box.tag not in ("span", "sup", "small", "a") or _text_beside(box, place).strip(_SIGNS):
            break
        place = box
    return place


def _text_beside(box: dom.Element, part: dom.Element) -> str:
    return "".join(dom.text_of(child) for child in box.children if child is not part)


def _is_in_line(place: dom.Element) -> bool:
    """Return whether the note interrupts a line, rather than being a block or beginning one."""
    node: dom.Element = place
    for _ in range(_MAX_BOXES):
        before = shown_before(node)
        while isinstance(before, dom.Element) and _is_mark(before):
            before = shown_before(before)
        if before is not None:
            return isinstance(before, dom.Text) or (isinstance(before, dom.Element) and before.tag not in BLOCKS)
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag in BLOCKS:
            return False
        node = parent
    return False


def _is_mark(node: dom.Element) -> bool:
    """Return whether the element shows only a number or sign."""
    text = dom.text_of(node).strip()
    return node.tag in _MARK_TAGS and (not _WORD.search(text) or MARK.fullmatch(text) is not None)


def _mark_before(place: dom.Element) -> dom.Element | None:
    """Return the raised number or link right before a note that is its mark."""
    before = shown_before(place)
    if not isinstance(before, dom.Element) or before.tag in ("label", "input") or not _is_mark(before):
        return None
    return before if before.tag != "span" or class_names(before) else None


def _link_of(mark: dom.Element | None) -> dom.Element | None:
    if mark is None:
        return None
    return mark if mark.tag == "a" else dom.first(mark, 'a[href*="#"]')


def _targets(root: dom.Element) -> dict[str, dom.Element]:
    return {node.attr("id") or "": node for node in dom.select(root, "[id]")}


def _is_around(node: dom.Node, outer: dom.Element) -> bool:
    return node is outer or any(above is outer for above in ancestors(node, _MAX_LEVELS))


def normalise_note(node: dom.Element) -> tuple[str, ...]:
    """Return the words of a note without its number, to compare two copies of it."""
    return _without_numbers(_WORD.findall(" ".join(dom.texts_of(node)).casefold()))


def _without_numbers(words: list[str]) -> tuple[str, ...]:
    while words and words[0].isdecimal():
        del words[0]
    while words and words[-1].isdecimal():
        del words[-1]
    return tuple(words)


def drop_lists(root: dom.Element, selector: str, notes: Notes) -> None:
    """Remove the list of notes at the end that repeats those in the line; a note that was cut short there becomes whole."""
    known = {normalise_note(body): body for body in notes.bodies}
    cut = {words: body for body in notes.bodies if (words := _words_before_cut(body))}
    for node in dom.select(root, f":is({selector}) :is(li,tr,dd,p)"):
        box, words = node.parent, normalise_note(node)
        whole = next((body for start, body in cut.items() if words[: len(start)] == start), None)
        if not isinstance(box, dom.Element) or (words not in known and whole is None):
            continue
        if whole is not None:
            drop_mark_box(node)
            fill(whole, *(part for child in list(node.children) for part in _open_cell(child)))
        notes.removals.drop(node, "footnote shown twice")
        _drop_announced_box(box, root, notes)


def _words_before_cut(body: dom.Element) -> tuple[str, ...]:
    """Return the words of a note before the dots where a plugin cut it short; none if it is whole or has too few words."""
    text = " ".join(dom.texts_of(body))
    start, dots, rest = text.rpartition("…")
    words = _without_numbers(_WORD.findall(start.casefold()))
    return words if dots and len(rest.split()) <= _MAX_WORDS_AFTER_CUT and len(words) >= _MIN_WORDS else ()


def _open_cell(node: dom.Node) -> list[dom.Node]:
    return list(node.children) if isinstance(node, dom.Element) and node.tag in ("td", "th") else [node]


def drop_margins(root: dom.Element, notes: Notes) -> None:
    """Remove the notes in the margin that repeat those at the end."""
    known = {normalise_note(body) for body in notes.bodies}
    for node in dom.select(root, _SIDE_NOTES):
        if node.parent is not None and normalise_note(node) in known and not _holds_note(node, notes):
            notes.removals.drop(node, "footnote shown twice")


def _holds_note(node: dom.Element, notes: Notes) -> bool:
    return any(notes.holds(part) for part in (node, *ancestors(node, _MAX_LEVELS), *first_elements(node, 20)))


def _drop_announced_box(box: dom.Element, root: dom.Element, notes: Notes) -> None:
    """Remove a box that held copies of notes when only its heading is left."""
    for _ in range(_MAX_BOXES):
        words = {line.strip() for line in dom.texts_of(box) if line.strip()}
        if box is root or not all(is_announcement(dom.element("p", None, line)) for line in words):
            return
        parent = box.parent
        notes.removals.drop(box, "heading of the footnotes")
        if not isinstance(parent, dom.Element):
            return
        box = parent
