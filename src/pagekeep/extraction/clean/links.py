"""Links: every address absolute, every link that leads nowhere plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from pagekeep import dom
from pagekeep.extraction.input import urls

_NOTE: Final = re.compile(r"#fn-\d+")
_IDEOGRAPHS: Final = "\u2e80"
_KEPT_AS_IS: Final = ("mailto:", "tel:")
_BESIDE: Final = re.compile(r"[\w-]++(?:[./][\w-]++)*+(?:[?#][\w.=&-]*[\w=-])?\Z", re.ASCII)
"""An address that is read from the page's own folder as it stands: `next.html`, `img/a.png?w=2`."""

Resolve = Callable[[str | None], str | None]
"""An address as written to its absolute http(s) form, or `None` when it leads nowhere."""


def resolver(base_url: str | None) -> Resolve:
    """A function that makes addresses absolute against the page's own; the common forms without a full URL parse."""
    scheme, origin = _origin(base_url)
    folder = (urls.absolute("x", base_url) or "x")[:-1] if origin else ""

    def resolve(address: str | None) -> str | None:
        address = (address or "").strip()
        plain = address.isascii() and address.isprintable() and " " not in address and len(address) < 2000
        if plain and "/." not in address:
            if address.startswith(("https://", "http://")) and "[" not in address and len(address) > 8:
                return address
            if address.startswith("/") and not address.startswith("//") and origin:
                return origin + address
            if address.startswith("//") and scheme and len(address) > 3:
                return f"{scheme}:{address}"
            if folder and _BESIDE.match(address):
                return folder + address
        return urls.absolute(address, base_url)

    return resolve


def _origin(base_url: str | None) -> tuple[str, str]:
    try:
        parts = urlsplit(base_url or "")
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "", ""
    return parts.scheme, f"{parts.scheme}://{parts.netloc}"


def resolve_links(root: dom.Element, resolve: Resolve) -> None:
    """Make links absolute; unwrap anchors, in-page links and links that run code."""
    for link in dom.select(root, "a"):
        href = (link.attr("href") or "").strip()
        if href.startswith("#"):
            if not _is_note_reference(link, href):
                dom.unwrap(link)
            continue
        if href[:7].lower().startswith(_KEPT_AS_IS):
            continue
        target = resolve(href) if href else None
        if target is None:
            dom.unwrap(link)
        elif target != href:
            dom.set_attr(link, "href", target)


def part_links(root: dom.Element) -> None:
    """Set links apart that only the page's style sets apart; one that was torn into pieces is made whole."""
    for link in dom.tagged(root, ("a",)):
        if link.parent is None:
            continue
        end = dom.text_of(link)[-1:]
        for piece in _pieces(link):
            said = dom.text_of(piece)
            dom.append(link, *([] if _is_torn(end, said[:1]) else [" "]), *piece.children)
            dom.drop(piece)
            end = said[-1:] or end
        beside = link.next_sibling
        if (
            isinstance(beside, dom.Element)
            and beside.tag == "a"
            and _part_words(dom.text_of(link), dom.text_of(beside))
        ):
            dom.add_after(link, " ")


def _pieces(link: dom.Element) -> list[dom.Element]:
    """The links right behind a link that lead to the same place and are words like it: neighbouring pictures are two."""
    pieces: list[dom.Element] = []
    beside = link.next_sibling
    while isinstance(beside, dom.Element) and beside.tag == "a" and _address(beside) == _address(link):
        if dom.first(beside, "img") is not None or (not pieces and dom.first(link, "img") is not None):
            break
        pieces.append(beside)
        beside = beside.next_sibling
    return pieces


def _is_torn(before: str, after: str) -> bool:
    """Whether two letters may be of one word, or something parts them already."""
    return not (before.isalnum() and after.isalnum() and _part_words(before, after)) or after.islower()


def _address(link: dom.Element) -> str:
    return (link.attr("href") or "").rstrip("/")


def _part_words(before: str, after: str) -> bool:
    """Whether two texts are of a script that parts its words."""
    return before[-1:] < _IDEOGRAPHS and after[:1] < _IDEOGRAPHS


def _is_note_reference(link: dom.Element, href: str) -> bool:
    parent = link.parent
    return (
        isinstance(parent, dom.Element)
        and parent.tag == "sup"
        and parent.attr("class") == "footnote-ref"
        and _NOTE.fullmatch(href) is not None
    )
