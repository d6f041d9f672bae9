"""Scripts, form controls, drawings, hidden parts and invisible characters: whatever is not text of the page."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import BLOCKS, VOID, first_elements, shown_after, shown_before
from pagekeep.model import Removal
from pagekeep.text import compile_lazily

_SCRIPTS: Final = ("script", "style", "template", "link", "meta")
_CODE: Final = frozenset(("script", "style"))
"""Elements whose text is code and not words of the page: removed without a record."""
_NON_TEXT: Final = {
    **dict.fromkeys("input select textarea datalist progress meter".split(), "form control"),
    **dict.fromkeys(("svg", "canvas"), "drawing"),
    **dict.fromkeys("object applet embed iframe frame frameset video audio param track source".split(), "embed"),
    **dict.fromkeys(("map", "area"), "image map"),
    **dict.fromkeys(("script", "style", "template", "link", "meta", "title"), "page markup"),
    "noscript": "fallback for browsers without scripts",
    "math": "formula without a source",
}
"""Tags that are never text of the page, each with the reason for its removal."""
_SCREEN_READER: Final = (
    ".material-icons,.material-icons-outlined,.material-symbols-outlined,.material-symbols-rounded,"
    ".sr-only,.visually-hidden,.screen-reader-text"
)
_SCREEN_READER_CLASSES: Final = ("material-", "sr-only", "visually-hidden", "screen-reader-text")
_MAYBE_HIDDEN: Final = "[role=listbox],[role=tooltip],[hidden],[aria-hidden=true],[style*=display],[style*=visibility]"
_HIDING_STYLE: Final = compile_lazily(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_MAX_ICON_ELEMENTS: Final = 20
"""An icon is drawn with fewer elements than this; more are a part of the page."""
_WORD: Final = compile_lazily(r"\w")
_INVISIBLE: Final = compile_lazily("[\u00ad\u200b\u2060\ufeff]+")


def drop_scripts(state: CleanState) -> list[Removal]:
    """Remove scripts, styles and templates, but sources of formulas and gists."""
    removals = Removals(state.changes)
    for node in dom.tagged(state.root, _SCRIPTS):
        if node.tag in _CODE:
            if not _is_source(node):
                removals.note_rebuilt(node)
                dom.drop(node)
        else:
            removals.drop(node, "template")
    return removals


def _is_source(node: dom.Element) -> bool:
    """Return whether a script holds a formula or is a gist's address, for later steps."""
    return node.tag == "script" and (
        (node.attr("type") or "").startswith("math/") or "gist.github.com" in (node.attr("src") or "")
    )


def note_structures(state: CleanState) -> None:
    """Note the code blocks, tables, lists and formulas as they are now, for the loss check."""
    state.changes.made += dom.select(state.root, "pre,table,ul,ol,.math-inline,.math-block")


def drop_non_text(state: CleanState) -> list[Removal]:
    """Remove form controls, drawings, leftover frames and other elements that are never text."""
    removals = Removals(state.changes)
    for node in state.index.find(*_NON_TEXT):
        removals.drop(node, _NON_TEXT[node.tag])
    return removals


def drop_screen_reader_text(state: CleanState) -> list[Removal]:
    """Remove names of icon fonts and text that only screen readers read out."""
    removals = Removals(state.changes)
    if state.index.has_class(*_SCREEN_READER_CLASSES):
        for node in dom.select(state.root, _SCREEN_READER):
            removals.drop(node, "icon name or text for screen readers")
    return removals


def drop_hidden(state: CleanState) -> list[Removal]:
    """Remove what the page hides, closed menus and tooltips, and icons that only decorate."""
    removals = Removals(state.changes)
    candidates = dom.select(state.root, _MAYBE_HIDDEN)
    for node in candidates:
        if _is_marked_hidden(node):
            removals.drop(node, "hidden")
    for node in candidates:  # what was hidden inside an icon does not count as its words
        if node.tag != "button" and node.parent is not None and _is_unseen(node):
            removals.drop(node, "hidden")
    return removals


def _is_marked_hidden(node: dom.Element) -> bool:
    """Return whether the markup itself hides the element; a panel of tabs is shown on a click, so it is kept."""
    role, hidden = node.attr("role"), node.attr("hidden")
    if role in ("listbox", "tooltip"):
        return True
    return hidden is not None and hidden != "until-found" and role != "tabpanel"


def _is_unseen(node: dom.Element) -> bool:
    """Return whether the style hides the element, or it is an icon without words."""
    if _HIDING_STYLE.search(node.attr("style") or ""):
        return True
    if node.attr("aria-hidden") != "true" or node.tag == "img":
        return False
    inside = first_elements(node, _MAX_ICON_ELEMENTS)
    if len(inside) == _MAX_ICON_ELEMENTS or any(part.tag in ("img", "pre", "table") for part in inside):
        return False
    return not _WORD.search(dom.text_of(node))


def drop_buttons(state: CleanState) -> list[Removal]:
    """Remove buttons; one between the words of a sentence becomes text."""
    removals = Removals(state.changes)
    for button in state.index.find("button"):
        if _is_word(shown_before(button)) and _is_word(shown_after(button)):
            dom.unwrap(button)
        else:
            removals.drop(button, "button")
    return removals


def _is_word(node: dom.Node | None) -> bool:
    """Return whether a button's neighbour is text in the same line."""
    if isinstance(node, dom.Element):
        return node.tag not in BLOCKS and node.tag not in VOID
    return isinstance(node, dom.Text)


def drop_invisible_characters(state: CleanState) -> None:
    """Remove soft hyphens, zero-width spaces and byte order marks from the text; emoji keep their joiners."""
    text = dom.text_of(state.root)
    if text.isascii() or not any(character in text for character in "\u00ad\u200b\u2060\ufeff"):
        return
    for node in [node for node in dom.nodes(state.root) if isinstance(node, dom.Text) and _INVISIBLE.search(node.data)]:
        dom.replace(node, _INVISIBLE.sub("", node.data))
