"""Old and rare names for inline text become the ones of clean HTML."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.census import Census

_NAMES: Final = {
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
_OLD: Final = ",".join(_NAMES)


def rename_inline(root: dom.Element, census: Census) -> None:
    """Give `b`, `i`, `strike`, `tt` and their like their modern names; open a `cite` around a whole reference."""
    if "cite" in census.tags:
        _open_references(root)
    if census.tags.isdisjoint(_NAMES):
        return
    for node in dom.select(root, _OLD):
        dom.retag(node, _NAMES[node.tag])


def _open_references(root: dom.Element) -> None:
    """A `cite` is the title of a work; around a whole reference, which sets its title apart itself, it means nothing."""
    for node in dom.select(root, "cite:has(i,em,cite),cite.citation,cite.ltx_cite,cite:has(sup)"):
        dom.unwrap(node)
