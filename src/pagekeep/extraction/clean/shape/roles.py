"""Boxes that are a heading, a list or a table only by their role."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import HEADINGS, ancestors, is_blank

_ROLES: Final = "[role=heading],[role=list],[role=table],[role=grid]"
_CELL_ROLES: Final = "[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]"
_NO_HEADINGS: Final = HEADINGS | {"li", "td", "th", "a", "button", "summary", "dt"}
"""Where a heading by role is the title of a card or a cell."""
_CARDS: Final = frozenset(("listitem", "link", "button", "option", "gridcell"))
_HEADING_LEVELS: Final = frozenset("123456")
_BOXES: Final = frozenset(("div", "span", "p", "section"))
_CARD_PARTS: Final = "h1,h2,h3,h4,h5,h6,p,img,picture,svg,blockquote,ul,ol,table,figure,pre,iframe,video,div div"
_MIN_GRID_ROWS: Final = 2
"""Rows and columns of a table made of boxes; a single row is a bar."""
_MAX_GRID_CELLS: Final = 5_000
_MAX_HEADING_CHARS: Final = 300
"""A longer heading is a paragraph."""
_MAX_LEVELS: Final = 12


def write_roles(state: CleanState) -> None:
    """Turn boxes that are a heading, a list or a table only by their role into one."""
    for node in dom.select(state.root, _ROLES):
        if node.parent is None or node.tag not in _BOXES:
            continue
        role = node.attr("role")
        if role == "heading":
            _write_heading(node)
        elif role == "list":
            _write_list(node)
        else:
            _write_table(node)


def _write_heading(node: dom.Element) -> None:
    """Make a heading of a box that states its level, unless it is the title of a card."""
    text, level = dom.text_of(node).strip(), node.attr("aria-level") or ""
    if level not in _HEADING_LEVELS or not text or len(text) > _MAX_HEADING_CHARS:
        return
    is_title = any(above.tag in _NO_HEADINGS or above.attr("role") in _CARDS for above in ancestors(node, _MAX_LEVELS))
    if not is_title and dom.first(node, "a,p,ul,ol,table,h1,h2,h3,h4,h5,h6") is None:
        dom.retag(node, f"h{level}")


def _write_list(node: dom.Element) -> None:
    """Make a list of boxes whose children are all items of one line; items with blocks in them are cards."""
    items = [child for child in node.children if not is_blank(child)]
    if dom.first(node, _CARD_PARTS) is not None:
        return
    if items and all(isinstance(item, dom.Element) and item.attr("role") == "listitem" for item in items):
        for item in items:
            dom.retag(item, "li")  # type: ignore[arg-type]
        dom.retag(node, "ul")


def _write_table(grid: dom.Element) -> None:
    """Make a table of boxes if all their text is in cells."""
    rows = dom.select(grid, "[role=row]")
    cells = [dom.select(row, _CELL_ROLES) for row in rows]
    if len(rows) < _MIN_GRID_ROWS or max(map(len, cells)) < _MIN_GRID_ROWS or sum(map(len, cells)) > _MAX_GRID_CELLS:
        return
    if dom.first(grid, "table,[role=table],[role=grid]") is not None:
        return
    inside = sum(len(" ".join(dom.texts_of(cell)).split()) for row in cells for cell in row)
    if inside == len(" ".join(dom.texts_of(grid)).split()):
        made = [dom.element("tr", None, *map(_make_cell, row)) for row in cells]
        dom.replace(grid, dom.element("table", None, *made))


def _make_cell(cell: dom.Element) -> dom.Element:
    tag = "th" if (cell.attr("role") or "").endswith("header") else "td"
    return dom.element(tag, None, *cell.children)
