"""Text alternatives: what `aria-label`, the `<title>` of a drawing and `role=img` say in place of a picture."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import BLOCKS, DRAWING, HEADINGS, ancestors, shown_after, shown_before
from pagekeep.text import compile_lazily

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
