"""Inline elements: modern tag names, and spaces between words, links and images."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import is_only_child, is_tag, shown_before

_MODERN_TAGS: Final = {
    "b": "strong",
    "i": "em",
    "strike": "s",
    "tt": "code",
    "samp": "code",
    "acronym": "abbr",
    "dfn": "em",
    "var": "em",
    "menu": "ul",
    "dir": "ul",
    "listing": "pre",
    "xmp": "pre",
    "center": "div",
}
_WHOLE_REFERENCES: Final = "cite:has(i,em,cite),cite.citation,cite.ltx_cite,cite:has(sup)"
"""A `cite` is the title of a work. Around a whole reference, which marks its title itself, it means nothing."""
_FIRST_IDEOGRAPH: Final = "\u2e80"
"""From here on, scripts write no spaces between words (CJK radicals come first)."""
_MIN_PARAGRAPH_CHARS: Final = 80
"""Fewer characters after an image are its label."""


def rename_old_tags(state: CleanState) -> None:
    """Replace `b`, `i`, `strike`, `tt` and other old tags by modern ones; unwrap a `cite` around a whole reference."""
    if state.index.has_tag("cite"):
        for node in dom.select(state.root, _WHOLE_REFERENCES):
            dom.unwrap(node)
    for node in state.index.find(*_MODERN_TAGS):
        dom.retag(node, _MODERN_TAGS[node.tag])


def leave_text_in_code(state: CleanState) -> None:
    """Leave only text in code within a line: marks of notes go behind it, a formula takes its place, breaks are spaces."""
    if not state.index.has_tag("code", "kbd", "tt", "samp"):
        return
    for code in dom.select(state.root, "code:has(.footnote-ref),kbd:has(.footnote-ref)"):
        dom.add_after(code, *dom.select(code, ".footnote-ref"))
    for code in dom.select(state.root, "code:has(.math-inline),kbd:has(.math-inline)"):
        dom.unwrap(code)
    for quote in dom.select(state.root, "code q,kbd q"):
        dom.unwrap(quote)
    for line_break in dom.select(state.root, "code br,kbd br"):
        dom.replace(line_break, " ")


def separate_links(state: CleanState) -> None:
    """Put a space between links that only the style sets apart; join the pieces of one link."""
    for link in state.index.find("a"):
        if link.parent is None or not is_tag(link.next_sibling, "a"):
            continue
        end = dom.text_of(link)[-1:]
        for piece in _pieces(link):
            text = dom.text_of(piece)
            dom.append(link, *([] if _is_one_word(end, text[:1]) else [" "]), *piece.children)
            dom.drop(piece)
            end = text[-1:] or end
        beside = link.next_sibling
        if (
            isinstance(beside, dom.Element)
            and beside.tag == "a"
            and _use_spaces(dom.text_of(link), dom.text_of(beside))
        ):
            dom.add_after(link, " ")


def _pieces(link: dom.Element) -> list[dom.Element]:
    """Return the links right after a link with the same address; two neighbouring images are two links."""
    pieces: list[dom.Element] = []
    beside = link.next_sibling
    while isinstance(beside, dom.Element) and beside.tag == "a" and _address(beside) == _address(link):
        if dom.first(beside, "img") is not None or (not pieces and dom.first(link, "img") is not None):
            break
        pieces.append(beside)
        beside = beside.next_sibling
    return pieces


def _is_one_word(before: str, after: str) -> bool:
    """Return whether two characters may belong to one word, or something separates them already."""
    return not (before.isalnum() and after.isalnum() and _use_spaces(before, after)) or after.islower()


def _address(link: dom.Element) -> str:
    return (link.attr("href") or "").rstrip("/")


def _use_spaces(before: str, after: str) -> bool:
    """Return whether both texts are of a script that writes spaces between words."""
    return before[-1:] < _FIRST_IDEOGRAPH and after[:1] < _FIRST_IDEOGRAPH


def separate_images(state: CleanState) -> None:
    """Put a space between images and words; an image that opens a paragraph gets its own line."""
    for image in state.index.find("img"):
        link = image.parent
        node: dom.Node = link if link is not None and is_tag(link, "a") and is_only_child(image) else image
        after, before = node.next_sibling, node.previous_sibling
        if isinstance(after, dom.Text) and after.data[:1].isalnum():
            if isinstance(node.parent, dom.Element) and _opens_paragraph(node, node.parent):
                dom.add_before(node.parent, dom.element("p", None, node))
            else:
                dom.add_after(node, " ")
        if isinstance(before, dom.Text) and before.data[-1:].isalnum():
            dom.add_before(node, " ")


def _opens_paragraph(node: dom.Node, paragraph: dom.Element) -> bool:
    """Return whether the image comes before more than a label."""
    return paragraph.tag == "p" and shown_before(node) is None and len(dom.text_of(paragraph)) >= _MIN_PARAGRAPH_CHARS
