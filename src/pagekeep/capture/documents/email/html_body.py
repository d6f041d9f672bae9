"""The HTML of a message: what is hidden or counts readers goes, layout tables are flattened, links lead to their targets."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.email.links import unwrap
from pagekeep.capture.documents.email.values import Message
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.steps import element_name
from pagekeep.model import Removal
from pagekeep.text import count_words, one_line
from pagekeep.values import dataclass

MAX_ELEMENTS: Final = 60_000
"""Elements of a body that are looked at; the largest newsletters have about 6,000."""
_HIDING: Final = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|max-height\s*:\s*0(?:px)?\s*(?:!important)?\s*(?:;|$)|"
    r"opacity\s*:\s*0(?:\.0+)?\s*(?:!important)?\s*(?:;|$)|font-size\s*:\s*[01](?:px)?\s*(?:!important)?\s*(?:;|$))",
    re.I,
)
_PREHEADER: Final = re.compile(
    r"(?:^|[\s_-])(?:preheader|pre-header|preview-?text|mcnpreviewtext|hidden-?preheader|preview)(?:$|[\s_-])", re.I
)
_MAX_PREHEADER_WORDS: Final = 80
_FILLER: Final = re.compile(
    "[\u200c\u200b\u034f\u2007\u00ad\ufeff\u2060\u180e]{2,}|(?:[\u200c\u200b\u034f\u2007\u00ad\ufeff][\\s\u00a0]+){3,}"
)
"""Characters that push the text after a preheader out of the preview."""
_FILLING: Final = re.compile("[\u200c\u200b\u034f\u2007\u00ad\ufeff\u2060\u180e]+")
_SIZE: Final = re.compile(r"\s*(\d+)")
_STYLE_SIZE: Final = re.compile(r"(?:^|;)\s*(?:max-)?(?:width|height)\s*:\s*([01])px", re.I)
_PIXEL_PATH: Final = re.compile(
    r"/(?:open|opens|wf/open|o|pixel|beacon|track(?:/open)?|trk|e3t/cto|img/open|ss/o)(?:[./?]|$)", re.I
)
_MAX_PIXEL: Final = 2
_MAX_ICON: Final = 48
"""Pixels."""
_MIN_DATA_ROWS: Final = 2
_MAX_DATA_CELL_CHARS: Final = 120
_BLOCK_TAGS: Final = "h1,h2,h3,h4,p p,ul,ol,blockquote,pre,hr,img"


@dataclass(slots=True)
class Body:
    """The HTML of a message on its way."""

    root: dom.Element
    message: Message
    online: str = ""
    """Where the message says that it can be read on the web."""
    names: tuple[str, ...] = ()
    """Sender, list and subject, which the text often repeats."""
    pictures: dict[str, str] = field(default_factory=dict)
    """Content id to the address under which a picture of the message can be had."""


def make_body(html: str, message: Message) -> Body:
    """Return the parsed HTML; a body of too many elements is cut."""
    document = dom.parse(html)
    root = dom.first(document, "body") or dom.element("div")
    dom.bound_depth(root)
    for number, node in enumerate(dom.elements(root)):
        if number >= MAX_ELEMENTS:
            dom.drop_after(node)
            message.truncated.append(f"more than {MAX_ELEMENTS:,} elements")
            break
    content = dom.element("div", None, *list(root.children))
    if root.attr("dir"):
        dom.set_attr(content, "dir", root.attr("dir"))
    return Body(content, message)


def drop_hidden(body: Body) -> list[Removal]:
    """Remove what the message hides, such as the text that only its preview shows."""
    removals = Removals()
    for node in dom.select(body.root, "[style],[class],[id],[hidden]"):
        if node.parent is None:
            continue
        if node.attr("hidden") is not None or _HIDING.search(node.attr("style") or ""):
            if node.tag not in ("td", "th", "tr", "tbody", "table", "body") or not _holds_content(node):
                removals.drop(node, "hidden")
        elif _PREHEADER.search(f"{node.attr('class') or ''} {node.attr('id') or ''}") and _is_preview(node):
            removals.drop(node, "text for the preview of the message")
    for text in [node for node in dom.nodes(body.root) if isinstance(node, dom.Text) and _FILLER.search(node.data)]:
        dom.replace(text, _FILLER.sub(" ", text.data))
    return removals


def is_hiding(node: dom.Element) -> bool:
    """Return whether an element holds text that only the preview of the message shows."""
    return bool(
        _HIDING.search(node.attr("style") or "")
        or _PREHEADER.search(f"{node.attr('class') or ''} {node.attr('id') or ''}")
    )


def without_filler(text: str) -> str:
    """Return text without the characters that fill up a preview."""
    return one_line(_FILLING.sub(" ", text))


def _holds_content(node: dom.Element) -> bool:
    """Return whether a cell with letters of size 0, against gaps between pictures, holds elements that set their own size."""
    style = (node.attr("style") or "").lower()
    return (
        "font-size" in style
        and "display" not in style
        and any("font-size" in (inner.attr("style") or "").lower() for inner in dom.elements(node))
    )


def _is_preview(node: dom.Element) -> bool:
    return count_words(dom.text_of(node)) <= _MAX_PREHEADER_WORDS and dom.first(node, "h1,h2,h3") is None


def drop_pixels(body: Body) -> list[Removal]:
    """Remove pictures of one pixel, which report that the message was opened."""
    removals: list[Removal] = []
    for image in dom.tagged(body.root, ("img",)):
        if _is_pixel(image):
            removals.append(Removal(element_name(image), "tracking pixel", 0))
            dom.drop(image)
    return removals


def _is_pixel(image: dom.Element) -> bool:
    sizes = [int(found[1][:6]) for name in ("width", "height") if (found := _SIZE.match(image.attr(name) or ""))]
    if sizes and min(sizes) <= _MAX_PIXEL:
        return True
    if len(_STYLE_SIZE.findall(image.attr("style") or "")) >= 1 and not sizes:
        return True
    source = image.attr("src") or ""
    return not sizes and not (image.attr("alt") or "").strip() and bool(_PIXEL_PATH.search(source.partition("?")[0]))


def drop_icons(body: Body) -> list[Removal]:
    """Remove small pictures without a text: hearts, arrows, portraits beside a name."""
    removals: list[Removal] = []
    for image in dom.tagged(body.root, ("img",)):
        size = _SIZE.match(image.attr("width") or image.attr("height") or "")
        if size and int(size[1][:6]) <= _MAX_ICON and not (image.attr("alt") or "").strip():
            removals.append(Removal(element_name(image), "icon", 0))
            dom.drop(image)
    return removals


def resolve_links(body: Body) -> None:
    """Make links lead to their targets instead of counters of clicks."""
    for link in dom.tagged(body.root, ("a",)):
        address = link.attr("href")
        if address:
            dom.set_attr(link, "href", unwrap(address))


def resolve_pictures(body: Body) -> None:
    """Give the pictures that are parts of the message their addresses, and drop those that have none."""
    for image in dom.tagged(body.root, ("img",)):
        source = (image.attr("src") or "").strip()
        if source.lower().startswith("cid:"):
            address = body.pictures.get(source[4:].strip("<>"))
            if address:
                dom.set_attr(image, "src", address)
            elif (image.attr("alt") or "").strip():
                dom.replace(image, image.attr("alt") or "")
            else:
                dom.drop(image)


def flatten_tables(body: Body) -> None:
    """Turn the cells of layout tables into boxes, innermost first; only tables of data stay."""
    for table in reversed(dom.tagged(body.root, ("table",))):
        rows = _rows(table)
        if not _is_data(table, rows):
            _flatten(table, rows)
    for stray in dom.tagged(body.root, ("center", "font")):
        dom.unwrap(stray) if stray.tag == "font" else dom.retag(stray, "div")


def _rows(table: dom.Element) -> list[list[dom.Element]]:
    """Return the table's own cells, row by row."""
    rows = []
    for child in table.children:
        if not isinstance(child, dom.Element):
            continue
        for row in list(child.children) if child.tag in ("thead", "tbody", "tfoot") else [child]:
            if isinstance(row, dom.Element) and row.tag == "tr":
                rows.append(
                    [cell for cell in row.children if isinstance(cell, dom.Element) and cell.tag in ("td", "th")]
                )
    return rows


def _is_data(table: dom.Element, rows: list[list[dom.Element]]) -> bool:
    """Return whether a table shows data: a head, or rows of short cells that are all filled."""
    if table.attr("role") in ("presentation", "none") and not any(cell.tag == "th" for row in rows for cell in row):
        return False
    filled = [row for row in rows if any(dom.text_of(cell).strip() for cell in row)]
    widest = max(map(len, filled), default=0)
    if widest < 2 or len(filled) < _MIN_DATA_ROWS or dom.first(table, "table") is not None:
        return False
    cells = [cell for row in filled for cell in row]
    texts = [dom.text_of(cell).strip() for cell in cells]
    if any(len(text) > _MAX_DATA_CELL_CHARS for text in texts) or dom.first(table, _BLOCK_TAGS) is not None:
        return False
    if any(cell.tag == "th" for cell in cells):
        return True
    even = sum(1 for row in filled if len(row) == widest)
    return even >= 0.7 * len(filled) and sum(map(bool, texts)) >= 0.8 * len(texts)


def _flatten(table: dom.Element, rows: list[list[dom.Element]]) -> None:
    boxes: list[dom.Node] = []
    for child in list(table.children):
        if isinstance(child, dom.Element) and child.tag == "caption":
            boxes.append(dom.element("p", None, *list(child.children)))
    for row in rows:
        for cell in row:
            box = dom.element("div", None, *list(cell.children))
            for name in ("dir", "lang"):
                if cell.attr(name) or table.attr(name):
                    dom.set_attr(box, name, cell.attr(name) or table.attr(name))
            boxes.append(box)
    dom.replace(table, *boxes)
