"""Tables: those that only lay out the page go, what they hold stays; tables of data keep their cells."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.vocabulary import is_tag

_BLOCK_HEAVY: Final = "h1,h2,h3,h4,pre,blockquote,figure,hr,article,section"
_PARTS: Final = frozenset(("thead", "tbody", "tfoot"))
_LINE_OF_CODE: Final = 200
_LONG: Final = 400
"""A cell with more characters than this, on average, is a column of the page and not a datum."""


def settle_tables(root: dom.Element, census: Census) -> None:
    """Unwrap layout tables, innermost first, and give cells the attributes that clean HTML knows."""
    if "table" not in census.tags:
        return
    if "pre" in census.tags or "code" in census.tags:
        _put_short_code_in_line(root)
    for table in reversed(dom.select(root, "table")):
        rows = _rows(table)
        if _is_layout(table, rows):
            _unwrap_table(table, rows)
            continue
        if _has_bold_head(rows):
            for cell in rows[0]:
                dom.retag(cell, "th")
        _align(rows)


def _has_bold_head(rows: list[list[dom.Element]]) -> bool:
    """Whether the first row alone is all in bold, which is how word processors write the names of columns."""
    return (
        len(rows) > 2
        and len(rows[0]) > 1
        and all(map(_is_bold, rows[0]))
        and not all(map(_is_bold, rows[1]))
        and not any(cell.tag == "th" for row in rows for cell in row)
    )


def _is_bold(cell: dom.Element) -> bool:
    bold = dom.first(cell, "b,strong")
    return bold is not None and dom.text_of(bold).strip() == dom.text_of(cell).strip() != ""


def _put_short_code_in_line(root: dom.Element) -> None:
    """A block of code of one line in a cell fits into a table as code within a line."""
    for block in dom.select(root, "td pre,th pre"):
        text = dom.text_of(block)
        if "\n" not in text and len(text) < _LINE_OF_CODE:
            dom.replace(block, dom.element("code", None, text))


def _rows(table: dom.Element) -> list[list[dom.Element]]:
    """The table's own cells, row by row."""
    rows: list[list[dom.Element]] = []
    for child in table.children:
        if not isinstance(child, dom.Element):
            continue
        for row in child.children if child.tag in _PARTS else (child,):
            if isinstance(row, dom.Element) and row.tag == "tr":
                rows.append([cell for cell in row.children if is_tag(cell, "td") or is_tag(cell, "th")])  # type: ignore[misc]
    return rows


def _is_layout(table: dom.Element, rows: list[list[dom.Element]]) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if table.attr("role") in ("table", "grid", "treegrid"):
        return False
    widest = max(map(len, rows), default=0)
    headed = any(cell.tag == "th" for row in rows for cell in row) or _has_caption(table)
    if widest <= 1:
        return not (headed and len(rows) > 2)
    if headed:
        return False
    if all(_shown(row) <= 1 for row in rows):
        return True
    if dom.first(table, "table") is not None:
        return True
    cells = [cell for row in rows for cell in row]
    if dom.first(table, _BLOCK_HEAVY) is not None and len(cells) < 30:
        return True
    return len(cells) < 12 and sum(len(dom.text_of(cell)) for cell in cells) > _LONG * len(cells)


def _shown(row: list[dom.Element]) -> int:
    """How many cells of the row show something."""
    return sum(bool(dom.text_of(cell).strip()) or dom.first(cell, "img") is not None for cell in row)


def _has_caption(table: dom.Element) -> bool:
    return any(is_tag(child, "caption") or is_tag(child, "thead") for child in table.children)


def _unwrap_table(table: dom.Element, rows: list[list[dom.Element]]) -> None:
    """Every cell becomes a box in reading order."""
    boxes: list[dom.Node] = []
    for child in table.children:
        if isinstance(child, dom.Element) and child.tag == "caption":
            boxes.append(dom.element("p", None, *child.children))
    for row in rows:
        for cell in row:
            dom.retag(cell, "div")
            boxes.append(cell)
    dom.replace(table, *boxes)


def _align(rows: list[list[dom.Element]]) -> None:
    for row in rows:
        for cell in row:
            style = cell.attr("style")
            if style and "text-align" in style and cell.attr("align") is None:
                value = style.partition("text-align")[2].lstrip(" :").partition(";")[0].strip().lower()
                if value in ("left", "right", "center"):
                    dom.set_attr(cell, "align", value)
