"""Tables: by their drawn lines, else by rows whose cells begin at the same places."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.layout.lines import make_lines, split_cells
from pagekeep.capture.documents.pdf.values import Block, Box, Cell, Line, PdfPage, Word

_SNAP: Final = 3.0
"""Points within which drawn lines are at the same place."""
_MAX_RULES: Final = 3_000
_MAX_GRID: Final = 400
_MIN_ALIGNED_ROWS: Final = 3
_ALIGNED: Final = 0.35
"""Distance of left edges, right edges or middles, in type sizes, at which cells are in the same column."""


def find_ruled_tables(page: PdfPage) -> list[tuple[Block, set[int]]]:
    """Return the tables with drawn lines on a page, with the ids of their words."""
    if len(page.rules) > _MAX_RULES:
        return []
    across = [rule for rule in page.rules if rule.x1 - rule.x0 > rule.bottom - rule.top]
    down = [rule for rule in page.rules if rule.x1 - rule.x0 <= rule.bottom - rule.top]
    found = []
    for group in _connected([*across, *down]):
        area = Box(
            min(r.x0 for r in group), min(r.top for r in group), max(r.x1 for r in group), max(r.bottom for r in group)
        )
        inside = [word for word in page.words if area.has(*word.middle)]
        ys = _snap([y for rule in group if rule in across for y in ((rule.top + rule.bottom) / 2,)])
        xs = _snap([x for rule in group if rule in down for x in ((rule.x0 + rule.x1) / 2,)])
        if len(ys) < 2 or not inside:
            continue
        if len(xs) < 3:
            xs = _column_edges(inside, area)
        if not 3 <= len(xs) <= _MAX_GRID or not 3 <= len(ys) <= _MAX_GRID:
            continue
        rows = _fill_grid(inside, xs, ys)
        if len(rows) >= 2:
            found.append((Block("table", make_lines(inside), page.index, rows=rows), set(map(id, inside))))
    return found


def _connected(rules: list[Box]) -> list[list[Box]]:
    """Return groups of lines that touch each other, or share both ends as the lines between rows do."""
    groups: list[list[Box]] = []
    areas: list[Box] = []
    for rule in sorted(rules, key=lambda rule: (rule.top, rule.x0)):
        mine, area = [rule], rule
        rest_groups, rest_areas = [], []
        for group, other in zip(groups, areas, strict=True):
            if _is_near(area, other):
                mine = group + mine
                area = Box(
                    min(area.x0, other.x0),
                    min(area.top, other.top),
                    max(area.x1, other.x1),
                    max(area.bottom, other.bottom),
                )
            else:
                rest_groups.append(group)
                rest_areas.append(other)
        groups, areas = [*rest_groups, mine], [*rest_areas, area]
    return [group for group in groups if len(group) >= 3]


def _is_near(rule: Box, area: Box) -> bool:
    touches = (
        rule.x0 < area.x1 + _SNAP
        and rule.x1 > area.x0 - _SNAP
        and rule.top < area.bottom + _SNAP
        and rule.bottom > area.top - _SNAP
    )
    same_ends = abs(rule.x0 - area.x0) < _SNAP and abs(rule.x1 - area.x1) < _SNAP and rule.top - area.bottom < 60
    return touches or same_ends


def _snap(values: list[float]) -> list[float]:
    result: list[float] = []
    for value in sorted(values):
        if not result or value - result[-1] > _SNAP:
            result.append(value)
    return result


def _column_edges(words: list[Word], area: Box) -> list[float]:
    """Return the edges of columns that only empty strips part."""
    edges, end = [area.x0], None
    size = sorted(word.size for word in words)[len(words) // 2]
    for word in sorted(words, key=lambda word: word.x0):
        if end is not None and word.x0 - end > 0.7 * size:
            edges.append((end + word.x0) / 2)
        end = word.x1 if end is None else max(end, word.x1)
    return [*edges, area.x1]


def _fill_grid(words: list[Word], xs: list[float], ys: list[float]) -> list[list[Cell]]:
    grid: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        x, y = word.middle
        row, column = sum(y > edge for edge in ys) - 1, sum(x > edge for edge in xs) - 1
        if 0 <= row < len(ys) - 1 and 0 <= column < len(xs) - 1:
            grid.setdefault((row, column), []).append(word)
    used = sorted({row for row, _ in grid})
    columns = [column for column in range(len(xs) - 1) if any((row, column) in grid for row in used)]
    if len(columns) < 2:
        return []
    rows = [[Cell(make_lines(grid.get((row, column), []))) for column in columns] for row in used]
    _mark_headers(rows)
    return rows


def _mark_headers(rows: list[list[Cell]]) -> None:
    """Mark the first row as headers when it alone is bold; a table in Markdown has headers anyway."""
    for cell in rows[0]:
        cell.header = True


def join_aligned_rows(blocks: list[Line], page: int) -> list[Line | Block]:
    """Return the lines with runs of aligned rows as tables."""
    result: list[Line | Block] = []
    run: list[tuple[Line, list[list[Word]]]] = []

    def end() -> None:
        result.extend([_make_aligned(run, page)] if _is_table(run) else [line for line, _ in run])
        run.clear()

    for line in blocks:
        cells = split_cells(line)
        if len(cells) > 1 and (not run or _fits(run[-1], (line, cells))):
            run.append((line, cells))
            continue
        end()
        if len(cells) > 1:
            run.append((line, cells))
        else:
            result.append(line)
    end()
    return result


def _fits(before: tuple[Line, list[list[Word]]], after: tuple[Line, list[list[Word]]]) -> bool:
    (line, cells), (other, others) = before, after
    near = 0 < other.base - line.base < 3.2 * line.size
    shared = sum(any(_is_aligned(a, b, line.size) for a in cells) for b in others)
    return near and shared >= 2 and shared >= len(others) - 1


def _is_aligned(a: list[Word], b: list[Word], size: float) -> bool:
    left, right = abs(a[0].x0 - b[0].x0), abs(a[-1].x1 - b[-1].x1)
    middle = abs(a[0].x0 + a[-1].x1 - b[0].x0 - b[-1].x1) / 2
    return min(left, right, middle) < _ALIGNED * size


def _is_table(run: list[tuple[Line, list[list[Word]]]]) -> bool:
    return len(run) >= _MIN_ALIGNED_ROWS


def _make_aligned(run: list[tuple[Line, list[list[Word]]]], page: int) -> Block:
    words = [word for line, _ in run for word in line.words]
    area = Box(min(w.x0 for w in words) - 1, 0, max(w.x1 for w in words) + 1, 0)
    spans = sorted((cell[0].x0, cell[-1].x1) for _, cells in run for cell in cells)
    edges, end = [area.x0], None
    for low, high in spans:
        if end is not None and low > end:
            edges.append((end + low) / 2)
        end = high if end is None else max(end, high)
    edges.append(area.x1)
    rows = []
    for _line, cells in run:
        row = [Cell([]) for _ in range(len(edges) - 1)]
        for cell in cells:
            middle = (cell[0].x0 + cell[-1].x1) / 2
            index = max(0, min(len(row) - 1, sum(middle > edge for edge in edges) - 1))
            row[index].lines.append(Line(cell).measure())
        rows.append(row)
    _mark_headers(rows)
    return Block("table", [line for line, _ in run], page, rows=rows)
