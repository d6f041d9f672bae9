"""Tables as GFM pipe tables.

A cell that spans others stands in the first of them and leaves the rest empty: the words are written once, as the page
shows them. A cell is one line, so its blocks follow each other and list items get a bullet. A table with code blocks or
tables in its cells fits into no pipe table: its cells are written one after the other, header cells bold.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.dom import Element
from pagekeep.markdown.blocks.writer import Block, Writer, enter
from pagekeep.markdown.inline.emphasis import EM, EM_END
from pagekeep.markdown.inline.run import Stack

_RULES: Final = {"left": ":--", "center": ":-:", "right": "--:"}


class _Cell(NamedTuple):
    text: str
    is_header: bool
    align: str
    columns: int
    rows: int


def table(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """The caption in italics, then the table."""
    if dom.first(node, "table, pre") is not None:
        enter(writer, node, out, stack)
        return
    rows = [cells for row in dom.select(node, "tr") if (cells := _cells(writer, row))]
    for caption in dom.select(node, "caption"):
        if text := writer.line([EM, *caption.children, EM_END]):
            out.append(Block("p", text))
    if any(cell.text for cells in rows for cell in cells):
        out.append(Block("table", _pipe_table(rows)))


def _cells(writer: Writer, row: Element) -> list[_Cell]:
    return [
        _Cell(
            writer.line(child.children, bold=child.tag == "th").replace("|", "\\|"),
            child.tag == "th",
            (child.attr("align") or "").strip().lower(),
            _span(child.attr("colspan")),
            _span(child.attr("rowspan")),
        )
        for child in row.children
        if isinstance(child, Element) and child.tag in ("td", "th")
    ]


def _span(value: str | None) -> int:
    value = (value or "").strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _pipe_table(rows: list[list[_Cell]]) -> str:
    grid, aligns = _grid(rows)
    width = max(map(len, grid))
    # Renderers fill short rows up, so a hostile table of one long and many short rows is not written out in full.
    padded = width if width * len(grid) <= 4 * sum(map(len, grid)) + 10_000 else 0
    has_header = _has_header(rows, width)
    rule = [_RULES.get(aligns.get(column, ""), "---") for column in range(width)]
    lines = [_line(grid[0] if has_header else [], width), _line(rule, width)]
    lines.extend([_line(texts, padded) for texts in (grid[1:] if has_header else grid) if texts])
    return "\n".join(lines)


def _has_header(rows: list[list[_Cell]], width: int) -> bool:
    """Header cells say so; in a table without any, a full first row without numbers reads as one. GFM wants one row of
    headers, so any other table gets an empty one."""
    if any(cell.is_header for cells in rows for cell in cells):
        return all(cell.is_header for cell in rows[0])
    first = [cell.text for cell in rows[0]]
    return len(rows) > 1 and len(first) == width and all(first) and not any(map(str.isdigit, "".join(first)))


def _line(texts: list[str], width: int) -> str:
    return "| " + " | ".join(texts + [""] * (width - len(texts))) + " |"


def _grid(rows: list[list[_Cell]]) -> tuple[list[list[str]], dict[int, str]]:
    """The texts of each row, with empty ones where cells span, none at the end; and the alignment by column."""
    widest = max(map(len, rows))
    budget = 4 * sum(map(len, rows)) + 10_000  # of empty cells: beyond, spans are not believed
    taken: dict[int, int] = {}  # column to the first row that no cell from above reaches
    aligns: dict[int, str] = {}
    grid: list[list[str]] = []
    for number, cells in enumerate(rows):
        texts: list[str] = []
        for cell in cells:
            while budget > 0 and taken.get(len(texts), 0) > number:
                texts.append("")
                budget -= 1
            column = len(texts)
            span = min(cell.columns, widest) if budget > 0 else 1
            budget -= span - 1
            texts.extend([cell.text, *[""] * (span - 1)])
            if cell.align:
                aligns.setdefault(column, cell.align)
            if cell.rows > 1:
                taken.update(dict.fromkeys(range(column, column + span), number + cell.rows))
        grid.append(_without_empty_end(texts))
    return grid, aligns


def _without_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts.pop()
    return texts
