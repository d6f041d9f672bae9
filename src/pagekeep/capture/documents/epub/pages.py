"""A page of an EPUB as HTML: tags closed, anchors unique in the book, links inside it resolved, pictures as their text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.epub.package import resolve
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Options

_EMPTY_TAGS: Final = frozenset("area base br col embed hr img input link meta param source track wbr image".split())
_CLOSED_TAG: Final = re.compile(r"<([A-Za-z][\w:.-]{0,40})((?:\s[^<>]{0,2000})?)/>")
_POINTLESS_TEXT: Final = re.compile(
    r"(?i)(?:image|img|picture|cover|illustration|figure|photo|\[?[\w-]*\.(?:jpe?g|png|gif|svg))?\W*\d*\W*"
)
_NOTE_TYPES: Final = frozenset({"footnote", "endnote", "rearnote", "note"})
_BLOCKS: Final = frozenset("p div figure section article aside body center td li blockquote h1 h2 h3 h4 h5 h6".split())
_WEB: Final = ("http://", "https://", "mailto:", "tel:")


def parse_page(data: bytes) -> dom.Element | None:
    """Return the body of a page; `None` if it has none."""
    text, _ = decode(data, Options(max_bytes=len(data) + 1))
    document = dom.parse(_CLOSED_TAG.sub(_close, text))
    return dom.first(document, "body")


def _close(match: re.Match[str]) -> str:
    """Return a tag that XML closes in itself with an end tag, as HTML needs it."""
    name, attributes = match[1], match[2]
    return match[0] if name.lower() in _EMPTY_TAGS else f"<{name}{attributes}></{name}>"


def prepare(body: dom.Element, path: str, numbers: Mapping[str, int]) -> None:
    """Make the page part of the book; `numbers` has the number of every page, by its file."""
    own, folder = numbers[path], posixpath.dirname(path)
    for node in dom.select(body, "[id],[name]"):
        name = node.attr("id") or (node.attr("name") if node.tag == "a" else None)
        if name:
            dom.set_attr(node, "id", f"p{own}-{name}")
            dom.set_attr(node, "name", None)
    for link in dom.tagged(body, ("a",)):
        _resolve_link(link, folder, own, numbers)
    for node in dom.select(body, "[epub\\:type]"):
        types = set((node.attr("epub:type") or "").split())
        if "noteref" in types and node.tag == "a":
            dom.set_attr(node, "role", "doc-noteref")
        elif types & _NOTE_TYPES:
            dom.set_attr(node, "role", "doc-footnote")
    for picture in dom.tagged(body, ("svg",)):
        dom.drop(picture)
    for picture in dom.tagged(body, ("img", "image")):
        _describe(picture)


def _resolve_link(link: dom.Element, folder: str, own: int, numbers: Mapping[str, int]) -> None:
    target = (link.attr("href") or "").strip()
    if not target or target.lower().startswith(_WEB):
        return
    fragment = target.partition("#")[2]
    number = own if target.startswith("#") else numbers.get(resolve(folder, target))
    if number is None:
        dom.set_attr(link, "href", None)
    else:
        dom.set_attr(link, "href", f"#p{number}-{fragment}" if fragment else f"#p{number}")


def _describe(picture: dom.Element) -> None:
    """Replace a picture, whose file is not kept, by its text: as a caption where it is a block, else within the line."""
    text = " ".join((picture.attr("alt") or "").split())[:2_000]
    parent = picture.parent
    alone = isinstance(parent, dom.Element) and parent.tag in _BLOCKS and not dom.text_of(parent).strip()
    if _is_captioned(picture) or (alone and _POINTLESS_TEXT.fullmatch(text)):
        dom.drop(picture)
    elif alone:
        dom.replace(picture, dom.element("figure", None, dom.element("figcaption", None, text)))
    else:
        dom.replace(picture, text)


def _is_captioned(picture: dom.Element) -> bool:
    """Return whether the picture is in a figure that has a caption."""
    node: dom.Node | None = picture.parent
    for _ in range(4):
        if not isinstance(node, dom.Element):
            return False
        if node.tag == "figure":
            return dom.first(node, "figcaption") is not None
        node = node.parent
    return False
