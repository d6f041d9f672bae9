"""The paragraphs and tables of an RTF: of the text itself, of a note, or of a text box."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field, replace
from typing import Final

from pagekeep.capture.documents.word_blocks import (
    Block,
    Cell,
    Run,
    has_content,
    is_all_code,
    write_blocks,
    write_runs,
    write_table,
)

_HEADING: Final = re.compile(r"heading ([1-9])$", re.I)
_CODE: Final = re.compile(r"preformatted|source ?code|code|verbatim|listing|html preformatted", re.I)
_QUOTE: Final = re.compile(r"(?:intense )?quot|block ?(?:text|quot)", re.I)
_TYPED_BULLET: Final = re.compile(r"[•·▪◦‣–-]\s*\t+\s*")
_TYPED_NUMBER: Final = re.compile(r"\(?(\d{1,4}|[a-zA-Z])[.)]\s*\t+\s*")
_TOLERANCE: Final = 40
"""Twips within which two column edges are the same."""
_MAX_CELLS: Final = 2_000
NO_MARK: Final = " "
"""The mark of a paragraph that is in a list and shows none."""


@dataclass(slots=True)
class Properties:
    """Properties of a paragraph."""

    style: str = ""
    outline: int | None = None
    list_key: int | None = None
    level: int = 0
    marker: str = ""
    """What the file says is printed before an item."""
    indent: int = 0
    first: int = 0
    in_table: bool = False


@dataclass(slots=True)
class CellPlan:
    """How a cell of a row is drawn."""

    right: int
    joins_left: bool = False
    joins_above: bool = False


@dataclass(slots=True)
class Story:
    """Collects blocks."""

    blocks: list[Block] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    after: list[Block] = field(default_factory=list)
    cell: list[Block] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    rows: list[tuple[list[str], list[CellPlan], bool]] = field(default_factory=list)
    plan: list[CellPlan] = field(default_factory=list)
    is_head: bool = False
    indents: list[int] = field(default_factory=list)
    item_indent: int = 0

    def end_paragraph(self, about: Properties) -> None:
        """Add the runs so far as a block, to the cell that is open or to the text."""
        runs, self.runs = self.runs, []
        target = self.cell if about.in_table else self.blocks
        if not about.in_table and (has_content(runs) or self.rows):
            self.end_table()
        if has_content(runs) or _CODE.match(about.style):
            target.append(self._make_block(runs, about))
        target += self.after
        self.after = []

    def _make_block(self, runs: list[Run], about: Properties) -> Block:
        match = _HEADING.match(about.style)
        if about.style.lower() == "title":
            return Block("heading", runs, 0)
        if about.outline is not None and about.outline < 9:
            return Block("heading", runs, about.outline + 1)
        if match:
            return Block("heading", runs, int(match[1]))
        if _CODE.match(about.style) or (is_all_code(runs) and about.list_key is None):
            return Block("code", runs)
        if (about.list_key or about.marker) and about.marker != NO_MARK:
            digits = re.sub(r"\D", "", about.marker.rpartition(".")[0] or about.marker)[-6:]
            ordered = any(map(str.isalnum, about.marker))
            self.item_indent = about.indent
            return Block("item", runs, about.level, ordered, int(digits) if digits else 1, str(about.list_key))
        if item := self._read_typed_item(runs, about):
            return item
        if not _QUOTE.match(about.style) and self._continues_item(about):
            return Block("more", runs)
        return Block("quote" if _QUOTE.match(about.style) else "text", runs)

    def _continues_item(self, about: Properties) -> bool:
        """Return whether a paragraph has the place of the item before it, without a mark."""
        target = self.cell if about.in_table else self.blocks
        is_after_item = bool(target) and target[-1].kind in ("item", "more")
        return is_after_item and about.indent > 0 and about.indent == self.item_indent and about.first >= 0

    def _read_typed_item(self, runs: list[Run], about: Properties) -> Block | None:
        """Return an item whose mark is typed before a tab, as some programs write lists; `None` for other text."""
        start = "".join(run.text for run in runs[:3])[:40]
        bullet, number = _TYPED_BULLET.match(start), _TYPED_NUMBER.match(start)
        found = bullet or number
        if found is None or about.first >= 0:
            return None
        while self.indents and self.indents[-1] > about.indent:
            self.indents.pop()
        if not self.indents or self.indents[-1] < about.indent:
            self.indents.append(about.indent)
        value = int(number[1]) if number and number[1].isdecimal() else 1
        level, self.item_indent = len(self.indents) - 1, about.indent
        return Block("item", _drop_start(runs, found.end()), level, number is not None, value)

    def end_cell(self, about: Properties) -> None:
        """Finish the cell that is open."""
        self.end_paragraph(replace(about, in_table=True))
        blocks, self.cell = self.cell, []
        if all(block.kind in ("text", "quote", "code") for block in blocks):
            html = "<br>".join(write_runs(block.runs) for block in blocks)
        else:
            html = write_blocks(blocks)
        if len(self.cells) < _MAX_CELLS:
            self.cells.append(html)

    def end_row(self) -> None:
        """Finish the row that is open."""
        if self.cells:
            self.rows.append((self.cells, self.plan[: len(self.cells)], self.is_head))
        self.cells = []

    def end_table(self) -> None:
        """Add the rows so far as a table."""
        if self.rows:
            html = write_table(_make_rows(self.rows))
            self.blocks += [Block("table", html=html)] if html else []
        self.rows = []

    def finish(self, about: Properties) -> list[Block]:
        """Return all blocks."""
        self.end_paragraph(replace(about, in_table=False))
        if self.cell:
            self.blocks += self.cell
        self.end_row()
        self.end_table()
        return self.blocks


def _drop_start(runs: list[Run], count: int) -> list[Run]:
    out: list[Run] = []
    for run in runs:
        if count and run.html is None:
            taken = min(count, len(run.text))
            count -= taken
            run = run._replace(text=run.text[taken:])
        out.append(run)
    return out


def _make_rows(rows: list[tuple[list[str], list[CellPlan], bool]]) -> list[list[Cell]]:
    """Return the rows of a table; a cell goes over the columns that its edges include."""
    edges: list[int] = []
    for edge in sorted({plan.right for _, plans, _ in rows for plan in plans}):
        if not edges or edge - edges[-1] > _TOLERANCE:
            edges.append(edge)
    made: list[list[Cell]] = []
    above: dict[int, Cell] = {}
    for texts, plans, is_head in rows:
        row: list[Cell] = []
        column = 0
        for index, html in enumerate(texts):
            plan = plans[index] if index < len(plans) else None
            end = bisect.bisect_left(edges, plan.right - _TOLERANCE) + 1 if plan and edges else column + 1
            span = max(1, min(end - column, 200))
            if plan and plan.joins_left and row:
                row[-1].columns += span
            elif plan and plan.joins_above and column in above:
                above[column].rows += 1
            else:
                cell = Cell(html, span, 1, is_head)
                row.append(cell)
                above[column] = cell
            column += span
        made.append(row)
    return made
