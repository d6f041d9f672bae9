"""Whatever is not text of the page: scripts, controls, drawings, hidden parts; and the text that means pictures."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    BLOCKS,
    DRAWING,
    HEADINGS,
    VOID,
    CleanState,
    Removals,
    ancestors,
    first_elements,
    shown_after,
    shown_before,
)
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
            if not (
                node.tag == "script"
                and ((node.attr("type") or "").startswith("math/") or "gist.github.com" in (node.attr("src") or ""))
            ):
                removals.note_rebuilt(node)
                dom.drop(node)
        else:
            removals.drop(node, "template")
    return removals


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


_DRAWINGS: Final = '[role="img"], [role="graphics-document"], svg, canvas'
_MAX_CHARS: Final = 300
"""Characters of a text alternative; a longer one is a separate text, for another purpose."""
_MIN_CAPTION_WORDS: Final = 4
"""Words of the alternative of a drawing that is a block: icons and logos are named with fewer."""
_MAX_LEVELS: Final = 12
"""Elements around a drawing that are searched for a control or a figure."""
_NO_TEXT: Final = HEADINGS | {"button", "label", "select", "nav", "summary", "pre"}
"""Where a drawing is a sign for something to click on."""
_DIGITS: Final = compile_lazily(r"\d+")
_ICON_PIXELS: Final = 48.0
"""Width of the largest icon."""


def write_alternatives(state: CleanState) -> None:
    """Write the text alternative of a drawing: as words within a line, as a caption where it is a block."""
    for image in state.index.find("img"):
        label = _label(image)
        if label and not (image.attr("alt") or "").strip():
            dom.set_attr(image, "alt", label)
    pictures = [(node, label) for node in dom.select(state.root, _DRAWINGS) if (label := _alternative(node))]
    patterns = Counter(_DIGITS.sub("0", label) for _, label in pictures)
    for node, label in pictures:
        if node.parent is None:
            continue  # inside a picture that was replaced
        if node.tag not in BLOCKS and _is_within_line(node):
            dom.replace(node, f" {label} ")
        elif patterns[_DIGITS.sub("0", label)] == 1 and _is_block_picture(node, label):
            caption = dom.element("figcaption", None, label)
            dom.replace(node, dom.element("figure", {DRAWING: ""}, caption))


def _alternative(node: dom.Element) -> str:
    """Return the words in place of a drawing; none for a real image, a control, or what has its own words."""
    label = "" if node.tag == "img" else _label(node) or _drawing_title(node) or _label_of_link(node)
    if not label or not _is_wordless_picture(node):
        return ""
    return "" if any(above.tag in _NO_TEXT for above in ancestors(node, _MAX_LEVELS)) else label


def _label(node: dom.Element) -> str:
    """Return the element's `aria-label` in one line, or nothing if it is too long or the element is hidden."""
    label = " ".join((node.attr("aria-label") or "").split())
    return label if len(label) <= _MAX_CHARS and node.attr("aria-hidden") != "true" else ""


def _label_of_link(node: dom.Element) -> str:
    """Return the `aria-label` of the link around a drawing."""
    return _label(node.parent) if isinstance(node.parent, dom.Element) and node.parent.tag == "a" else ""


def _drawing_title(node: dom.Element) -> str:
    """Return the `<title>` of a drawing, which is its first child."""
    title = next((child for child in node.children if isinstance(child, dom.Element)), None)
    if node.tag != "svg" or node.attr("aria-hidden") == "true" or title is None or title.tag != "title":
        return ""
    text = " ".join(dom.text_of(title).split())
    return text if len(text) <= _MAX_CHARS else ""


def _is_wordless_picture(node: dom.Element) -> bool:
    """Return whether the element is drawn or empty: with words or a real image the page has its own content there."""
    if node.tag in ("svg", "canvas"):
        return True
    return dom.first(node, "img, video, audio, table, pre") is None and not _text_outside_drawings(node)


def _text_outside_drawings(node: dom.Element) -> str:
    texts = [child for child in dom.nodes(node) if isinstance(child, dom.Text)]
    return "".join(text.data for text in texts if not _is_in_drawing(text, node)).strip()


def _is_in_drawing(text: dom.Node, root: dom.Element) -> bool:
    for above in ancestors(text, _MAX_LEVELS):
        if above is root:
            return False
        if above.tag == "svg":
            return True
    return False


def _is_within_line(node: dom.Element) -> bool:
    """Return whether text is beside the drawing, or beside the link whose only content it is."""
    link = node.parent
    if isinstance(link, dom.Element) and link.tag == "a":
        is_alone = shown_before(node) is None and shown_after(node) is None
        return is_alone and not (link.attr("href") or "").startswith("#") and _has_text_beside(link)
    return _has_text_beside(node)


def _has_text_beside(node: dom.Node) -> bool:
    return isinstance(shown_before(node), dom.Text) or isinstance(shown_after(node), dom.Text)


def _is_block_picture(node: dom.Element, label: str) -> bool:
    """Return whether a drawing is a picture: not an icon, nor in a link, a line or a figure with a caption."""
    if len(label.split()) < _MIN_CAPTION_WORDS or _is_small(node):
        return False
    for above in ancestors(node, _MAX_LEVELS):
        if above.tag in ("a", "p", "td", "th"):
            return False
        if above.tag == "figure":
            return dom.first(above, "figcaption") is None
    return True


def _is_small(node: dom.Element) -> bool:
    drawing = node if node.tag == "svg" else dom.first(node, "svg")
    if drawing is None:
        return False
    width = (drawing.attr("width") or "").removesuffix("px")
    if width.endswith(("em", "ex")):
        return True
    box = (drawing.attr("viewBox") or drawing.attr("viewbox") or "").replace(",", " ").split()
    for value in (width, *box[2:3]):
        try:
            return float(value) <= _ICON_PIXELS
        except ValueError:
            continue
    return False
