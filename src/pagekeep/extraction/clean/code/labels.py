"""The bar of a code block: the name of its language and its buttons go, a file name stays."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.code.language import is_empty_label, language_from_label
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.clean.vocabulary import first_elements, is_blank

_BARS: Final = frozenset("div span header p figcaption b strong em i".split())
_MAX_BAR_CHARS: Final = 200
"""Of the text of a bar above a block; more is text of the page."""
_MAX_NAMES_CHARS: Final = 80
"""Of a bar that names a file and a language."""
_MAX_BAR_DEPTH: Final = 6
"""Boxes around a block that may follow a bar with its language."""
_MAX_BAR_ELEMENTS: Final = 12
_MAX_BLANKS: Final = 8
"""Blank nodes between a bar and its block."""
_BUTTONS: Final = "button,[role=button],clipboard-copy"


def take_inner_bar(pre: dom.Element, language: str, removals: Removals) -> tuple[dom.Element, str]:
    """Return the element in a `pre` that holds the code alone, and the language that the bar beside it names.

    A bar that names something else, such as a file, is put before the block.
    """
    codes = dom.tagged(pre, ("code",), limit=2)
    if len(codes) != 1 or (codes[0].parent is pre and len(pre.children) == 1):
        return pre, ""
    code = codes[0]
    beside = _beside(pre, code)
    label = " ".join(" ".join(map(_label, beside)).split())
    text = dom.text_of(code)
    if not beside or not text.strip() or len(label) > _MAX_BAR_CHARS or any(part.tag not in _BARS for part in beside):
        return pre, ""
    label_language = language_from_label(label)
    if label and not label_language and not is_empty_label(label) and label.lower() != language:
        dom.add_before(pre, dom.element("p", None, label))
    removals.record_words(beside, "bar of a code block")
    return code, label_language


def _beside(pre: dom.Element, code: dom.Element) -> list[dom.Element]:
    """Return the boxes in a `pre` beside the boxes around the code; none if there is also text between them."""
    beside: list[dom.Element] = []
    node: dom.Node = code
    while node is not pre and node.parent is not None:
        for child in node.parent.children:
            if child is node or is_blank(child):
                continue
            if not isinstance(child, dom.Element):
                return []
            beside.append(child)
        node = node.parent
    return [part for part in beside if part.tag not in ("button", "svg", "style", "script")] or beside[:0]


def take_label(block: dom.Element, language: str, removals: Removals) -> str:
    """Remove the bar above a block that names its language; return that language."""
    node: dom.Node = block
    for _ in range(_MAX_BAR_DEPTH):
        before = _right_before(node)
        if isinstance(before, dom.Text):
            return ""
        if before is not None:
            label = _label(before)
            if _is_only_buttons(before, label) or is_empty_label(label):
                removals.drop(before, "buttons of a code block")
                continue
            label_language = language_from_label(label)
            if label_language and (
                not language
                or language in (label_language, label.lower())
                or language_from_label(language) == label_language
            ):
                removals.drop(before, "name of a code block's language")
                return label_language
            return _take_part(before, language, removals)
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag not in ("div", "figure", "code", "section"):
            return ""
        node = parent
    return ""


def _take_part(bar: dom.Element, language: str, removals: Removals) -> str:
    """Remove the name of the language from a bar that also names a file; return it."""
    is_bar = bar.tag in ("div", "header", "figcaption") and len(dom.text_of(bar)) <= _MAX_NAMES_CHARS
    if not is_bar or dom.first(bar, "p,code,a,em,strong") is not None:
        return ""
    for part in first_elements(bar, _MAX_BAR_ELEMENTS):
        found = language_from_label(dom.text_of(part).strip()) if part.tag in ("span", "div") else ""
        if found and (not language or language_from_label(language) == found or language == found):
            removals.drop(part, "name of a code block's language")
            return found
    return ""


def _is_only_buttons(bar: dom.Element, label: str) -> bool:
    return not label and bar.tag in _BARS and (dom.first(bar, _BUTTONS) is not None or not bar.children)


def _right_before(node: dom.Node) -> dom.Element | dom.Text | None:
    """Return the element before the node, or the text between them; many blank nodes count as text."""
    before = node.previous_sibling
    for _ in range(_MAX_BLANKS):
        if isinstance(before, dom.Element) or (isinstance(before, dom.Text) and not is_blank(before)):
            return before
        if before is None:
            return None
        before = before.previous_sibling
    return None


def _label(bar: dom.Element) -> str:
    if bar.tag not in _BARS or (bar.tag == "p" and any(node.tag not in _BARS for node in dom.elements(bar))):
        return ""  # a paragraph with a link or a key is text of the page
    text = dom.text_of(bar)
    if len(text) > _MAX_BAR_CHARS:
        return ""
    for button in dom.select(bar, _BUTTONS):
        text = text.replace(dom.text_of(button), "", 1)
    return text.strip()
