"""The loss check: compare what the content held with what the clean HTML and the Markdown hold.

Two steps can lose something. From clean HTML to Markdown nothing may be lost, so there every piece is counted. The clean-up
removes things by design (tables that lay out the page, images without an address, empty lists), so there it is a loss
only when nothing of a kind is left; anything less is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.media.images import is_placeholder
from pagekeep.model import PageWarning

_COUNTED: Final = (
    'pre,ul,ol,table,img[src]:not([src^="data:"]),a[href]:not([href=""]):not([href^="#"]):not([href^="javascript:"]),'
    'math,mjx-container,.katex,script[type^="math/"]'
)
_KIND_OF_TAG: Final = {
    "pre": "code blocks",
    "table": "tables",
    "ul": "lists",
    "ol": "lists",
    "img": "images",
    "a": "links",
}
_ICON_PIXELS: Final = 50
"""An image whose width or height is smaller is an icon, or a portrait beside a name."""
_MIN_COUNT: Final = {"links": 3}
"""Fewer than this may all be controls: "copy", "permalink", an address hidden from robots."""
_MAX_EXAMINED: Final = 40
"""Pieces of a kind that are examined to see whether any of them is visible."""
_IN_CLEAN_HTML: Final = {
    "code blocks": "pre",
    "tables": "table:not(:has(pre,table))",
    "lists": "ul,:not(.footnotes) > ol",
    "images": "img",
    "math": ".math-inline,.math-block",
    "links": 'a[href]:not([href^="#"])',
}
_WRITTEN_AS_TEXT: Final = {
    "lists": ":is(td,th) :is(ul,ol)",
    "links": ":is(pre,code,kbd) a[href]",
}
"""What Markdown cannot express in that place, so that only its words are written."""
_FENCE: Final = re.compile(r"^[ >\t]*(?:[-*+\d.)]+\s+)*(`{3,}|~{3,})", re.M)
_TABLE_RULE: Final = re.compile(r"^[ >\t]*\|(?:\s*:?-+:?\s*\|)+\s*$", re.M)
_LIST_ITEM: Final = re.compile(r"^[ >\t]*(?:[-*+]|\d+[.)])\s", re.M)
_EXACT: Final = ("code blocks", "images", "math", "links")
_ONLY_ALL: Final = ("tables", "lists")
"""Neighbouring lists merge and deep ones are flattened, so only the loss of all of them is reported."""

Counts = Mapping[str, int]


def count_in_page(content: dom.Element) -> Counts:
    """Count the pieces of each kind in the content before the clean-up; a kind of which none is visible is left out."""
    pieces: dict[str, list[dom.Element]] = {}
    for node in dom.select(content, _COUNTED):
        pieces.setdefault(_KIND_OF_TAG.get(node.tag, "math"), []).append(node)
    return {kind: len(nodes) for kind, nodes in pieces.items() if any(map(_is_visible, nodes[:_MAX_EXAMINED]))}


def _is_visible(node: dom.Element) -> bool:
    if node.tag == "img":
        return not (_is_small(node.attr("width")) or _is_small(node.attr("height")) or is_placeholder(node.attr("src")))
    if node.tag == "script":
        return True
    return bool(dom.text_of(node).strip()) and dom.first(node, "style,script") is None


def _is_small(size: str | None) -> bool:
    """Return whether a width or height is that of an icon."""
    size = (size or "").removesuffix("px")
    return size.isascii() and size.isdigit() and len(size) < 4 and int(size) < _ICON_PIXELS


def count_in_clean(root: dom.Element) -> Counts:
    """Count the pieces of each kind in the clean HTML that Markdown can express."""
    counts = {kind: len(dom.select(root, css)) for kind, css in _IN_CLEAN_HTML.items()}
    for kind, css in _WRITTEN_AS_TEXT.items():
        if counts[kind]:
            counts[kind] -= len(dom.select(root, css))
    return counts


def find_losses(page: Counts, root: dom.Element, markdown: str) -> list[str]:
    """Return in words what the page or the clean HTML had and the Markdown has not; empty when nothing is missing."""
    had = count_in_clean(root)
    has = _count_in_markdown(root, markdown, had)
    losses = [f"{had[kind] - has[kind]} of {had[kind]} {kind} lost" for kind in _EXACT if has[kind] < had[kind]]
    losses += [f"all {had[kind]} {kind} lost" for kind in _ONLY_ALL if had[kind] > 0 and not has[kind]]
    return losses + [
        f"all {page[kind]} {kind} lost in the clean-up" for kind in _SUCCESSORS if _is_gone(page, root, kind)
    ]


_SUCCESSORS: Final = {
    "code blocks": "pre,code",
    "lists": "ul,ol,blockquote,table",
    "images": "img,a.embed,.math-inline,.math-block",
    "math": ".math-inline,.math-block",
    "links": "a[href]",
}
"""What each kind may be after the clean-up."""


def _is_gone(page: Counts, root: dom.Element, kind: str) -> bool:
    return page.get(kind, 0) >= _MIN_COUNT.get(kind, 1) and dom.first(root, _SUCCESSORS[kind]) is None


def _count_in_markdown(root: dom.Element, markdown: str, had: Counts) -> Counts:
    """Count the kinds that the clean HTML has in the Markdown; of tables and lists only whether there are any."""
    return {
        "code blocks": len(_FENCE.findall(markdown)) // 2 if had["code blocks"] else 0,
        "tables": 1 if had["tables"] and _TABLE_RULE.search(markdown) else 0,
        "lists": 1 if had["lists"] > 0 and _LIST_ITEM.search(markdown) else 0,
        "images": markdown.count("!["),
        "math": markdown.count("$") // 2 if had["math"] else 0,
        "links": _count_links(root, markdown, had) if had["links"] > 0 else 0,
    }


def _count_links(root: dom.Element, markdown: str, had: Counts) -> int:
    """Count the links other than those of images, which look the same; an empty one is not written and counts as kept."""
    targets = markdown.count("](") - markdown.count("\\](")
    images = had["images"]
    linked = len(dom.select(root, "a img")) if images else 0
    empty = len(dom.select(root, 'a[href]:not([href^="#"]):empty'))
    return targets - images - (images - linked) + empty


def warnings(page: Counts, root: dom.Element) -> tuple[PageWarning, ...]:
    """Return a warning with what the clean-up left of each kind, when it removed some by design."""
    clean = {kind: len(dom.select(root, _IN_CLEAN_HTML[kind])) for kind in page}
    less = [f"{clean[kind]} of {number} {kind}" for kind, number in page.items() if clean[kind] < number]
    text = f"the clean-up kept {', '.join(less)}; what showed nothing or only laid out the page was removed"
    return (PageWarning("reduced", text),) if less else ()
