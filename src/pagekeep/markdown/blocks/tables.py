"""Write tables as GFM pipe tables.

A cell that spans others is written in the first of them and the rest stay empty: the words are written once, as the page
shows them. A cell is one line, so its blocks are joined and list items get a bullet. A table with code blocks or
tables in its cells cannot be a pipe table: its cells are written one after the other, header cells in bold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pagekeep.markdown.blocks.writer import Block, Writer, enter
from pagekeep.markdown.inline.emphasis import EM, EM_END, SIGNS
from pagekeep.markdown.inline.run import Stack
from pagekeep.model.clean_tree import CleanElement, find_all, has_any

_MAX_SPAN_DIGITS: Final = 4
_EMPTY_PER_CELL: Final = 4
_EMPTY_ALLOWED: Final = 10_000
"""Empty cells that may be written: a bound against hostile spans, far above what real tables have."""
_RULES: Final = {"left": ":--", "center": ":-:", "right": "--:"}


class _Cell(NamedTuple):
    text: str
    is_header: bool
    align: str
    columns: int
    rows: int


def table(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write the caption in italics, then the table."""
    if has_any(node, ("table", "pre")):
        enter(writer, node, out, stack)
        return
    rows = [cells for row in find_all(node, ("tr",)) if (cells := _cells(writer, row))]
    for caption in find_all(node, ("caption",)):
        if text := writer.line([SIGNS[EM], *caption.children, SIGNS[EM_END]]):
            out.append(Block("p", text))
    if any(cell.text for cells in rows for cell in cells):
        out.append(Block("table", _pipe_table(rows)))


def _cells(writer: Writer, row: CleanElement) -> list[_Cell]:
    return [
        _Cell(
            writer.line(child.children, bold=child.tag == "th").replace("|", "\\|"),
            child.tag == "th",
            child.attr("align").strip().lower(),
            _span(child.attr("colspan")),
            _span(child.attr("rowspan")),
        )
        for child in row.children
        if isinstance(child, CleanElement) and child.tag in ("td", "th")
    ]


def _span(value: str) -> int:
    value = value.strip()
    return max(1, int(value)) if value.isascii() and value.isdigit() and len(value) <= _MAX_SPAN_DIGITS else 1


def _pipe_table(rows: list[list[_Cell]]) -> str:
    grid, aligns = _grid(rows)
    width = max(map(len, grid))
    # Renderers pad short rows, so a hostile table of one long and many short rows is not written in full.
    padded = width if width * len(grid) <= _empty_limit(grid) else 0
    has_header = _has_header(rows, width)
    rule = [_RULES.get(aligns.get(column, ""), "---") for column in range(width)]
    lines = [_line(grid[0] if has_header else [], width), _line(rule, width)]
    lines.extend([_line(texts, padded) for texts in (grid[1:] if has_header else grid) if texts])
    return "\n".join(lines)


def _has_header(rows: list[list[_Cell]], width: int) -> bool:
    """Return whether the first row is the header: all header cells, or in a table without any, a full row without numbers.

    GFM requires one header row, so any other table gets an empty one.
    """
    if any(cell.is_header for cells in rows for cell in cells):
        return all(cell.is_header for cell in rows[0])
    first = [cell.text for cell in rows[0]]
    return len(rows) > 1 and len(first) == width and all(first) and not any(map(str.isdigit, "".join(first)))


def _empty_limit(rows: Sequence[Sequence[object]]) -> int:
    return _EMPTY_PER_CELL * sum(map(len, rows)) + _EMPTY_ALLOWED


def _line(texts: list[str], width: int) -> str:
    return "| " + " | ".join(texts + [""] * (width - len(texts))) + " |"


def _grid(rows: list[list[_Cell]]) -> tuple[list[list[str]], dict[int, str]]:
    """Return the texts of each row, with empty ones where cells span but none at the end, and the alignment by column."""
    widest = max(map(len, rows))
    budget = _empty_limit(rows)  # empty cells; beyond it, spans are ignored
    taken: dict[int, int] = {}  # by column: the first row that no cell from above reaches
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
        grid.append(_strip_empty_end(texts))
    return grid, aligns


def _strip_empty_end(texts: list[str]) -> list[str]:
    while texts and not texts[-1]:
        texts.pop()
    return texts
