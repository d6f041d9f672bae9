"""Tables: layout tables are unwrapped, tables of data keep their cells."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import is_tag
from pagekeep.model import Removal

_BLOCK_HEAVY: Final = "h1,h2,h3,h4,pre,blockquote,figure,hr,article,section"
_PARTS: Final = frozenset(("thead", "tbody", "tfoot"))
_MAX_LINE_OF_CODE_CHARS: Final = 200
"""A longer line of code would make its table unreadable; it stays a block."""
_MAX_CELL_CHARS: Final = 400
"""Cells with more characters than this, on average, are columns of the page and not data."""
_MIN_PARAGRAPH_CHARS: Final = 120
"""Characters beside a picture that are a paragraph and not its label."""
_MAX_LAYOUT_CELLS: Final = 30
"""A table with headings, code or quotes in it and fewer cells lays out the page."""
_MAX_COLUMN_CELLS: Final = 12
"""Only a table with fewer cells may be columns of long text."""


def unwrap_layout_tables(state: CleanState) -> list[Removal]:
    """Unwrap tables that only lay out the page, innermost first."""
    removals = Removals(state.changes)
    if state.index.has_tag("table") and state.index.has_tag("pre", "code"):
        _inline_short_code(state.root, removals)
    for table in reversed(state.index.find("table")):
        rows = _rows(table)
        if _is_layout(table, rows):
            _unwrap_table(table, rows)
            removals.record(table, "text outside the cells of a layout table")
    return removals


def normalise_tables(state: CleanState) -> None:
    """Mark a bold first row as the table's head and keep the alignment of cells."""
    for table in state.index.find("table"):
        rows = _rows(table)
        if _has_bold_head(rows):
            for cell in rows[0]:
                dom.retag(cell, "th")
        _align(rows)


def _has_bold_head(rows: list[list[dom.Element]]) -> bool:
    """Return whether only the first row is all bold, which is how word processors write column names."""
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


def _inline_short_code(root: dom.Element, removals: Removals) -> None:
    """Turn a code block of one line in a cell into inline code, which fits into a table."""
    for block in dom.select(root, "td pre,th pre"):
        text = dom.text_of(block)
        if "\n" not in text and len(text) < _MAX_LINE_OF_CODE_CHARS:
            removals.note_rebuilt(block)
            dom.replace(block, dom.element("code", None, text))


def _rows(table: dom.Element) -> list[list[dom.Element]]:
    """Return the table's own cells, row by row."""
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
    if all(_count_shown(row) <= 1 for row in rows):
        return True
    if dom.first(table, "table") is not None or _is_picture_beside_text(rows):
        return True
    cells = [cell for row in rows for cell in row]
    if dom.first(table, _BLOCK_HEAVY) is not None and len(cells) < _MAX_LAYOUT_CELLS:
        return True
    return len(cells) < _MAX_COLUMN_CELLS and sum(len(dom.text_of(cell)) for cell in cells) > _MAX_CELL_CHARS * len(
        cells
    )


def _is_picture_beside_text(rows: list[list[dom.Element]]) -> bool:
    """Return whether a table of one row sets a picture beside paragraphs."""
    if len(rows) != 1 or len(rows[0]) != 2:
        return False
    texts = [dom.text_of(cell).strip() for cell in rows[0]]
    pictures = [not text and dom.first(cell, "img") is not None for text, cell in zip(texts, rows[0], strict=True)]
    return any(pictures) and len(max(texts, key=len)) > _MIN_PARAGRAPH_CHARS


def _count_shown(row: list[dom.Element]) -> int:
    """Return the number of cells in the row that show something."""
    return sum(bool(dom.text_of(cell).strip()) or dom.first(cell, "img") is not None for cell in row)


def _has_caption(table: dom.Element) -> bool:
    return any(is_tag(child, "caption") or is_tag(child, "thead") for child in table.children)


def _unwrap_table(table: dom.Element, rows: list[list[dom.Element]]) -> None:
    """Turn every cell into a box, in reading order."""
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
