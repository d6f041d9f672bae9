"""Tables: by their drawn lines, else by rows whose cells begin at the same places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pagekeep.capture.documents.pdf.blocks import find_marker, is_bold, is_mono, is_numbered_code
from pagekeep.capture.documents.pdf.lines import make_lines, split_cells
from pagekeep.capture.documents.pdf.values import Block, Box, Cell, Line, PdfPage, Word

_SNAP: Final = 3.0
"""Points within which drawn lines are at the same place."""
_OPEN: Final = 12.0
"""Points that lines across go beyond the last line down when the table has an open side."""
_MAX_RULES: Final = 3_000
_MAX_GRID: Final = 400
_MAX_ROW: Final = 80.0
"""Points between the lines above and below a row: five lines of text."""
_MIN_ALIGNED_ROWS: Final = 3
_CELL_GAP: Final = 0.75
"""Gap between words, in type sizes, that may be between two cells."""
NOTE_MARK: Final = re.compile(r"\d{1,2}|[*†‡§]")
_STRETCHED: Final = 2.2
"""Width in type sizes that a space in justified text stays below."""
_EVEN: Final = 1.5
"""How much wider than the narrowest the widest space of a justified line may be."""
_NEXT_LINE: Final = 1.3
"""Distance of baselines in type sizes within a cell; rows have a larger one."""
_MIN_FILLED: Final = 0.6
"""Part of the cells that have words when every line of text is a row."""
_MIN_SHARED: Final = 0.4
"""Width in type sizes that a gap must have in all rows together."""


def find_ruled_tables(page: PdfPage) -> list[tuple[Block, set[int]]]:
    """Return the tables with drawn lines on a page, with the ids of their words."""
    if len(page.rules) > _MAX_RULES:
        return []
    found = []
    for group in _connected(page.rules):
        grid = _find_grid(group, page.words)
        if grid is None:
            continue
        words, xs, ys = grid
        rows = _fill_grid(words, xs, ys)
        if rows:  # a single row may belong to a table on the page before or after
            found.append((Block("table", make_lines(words), page.index, rows=rows), set(map(id, words))))
    return found


def _find_grid(group: list[Box], words: list[Word]) -> tuple[list[Word], list[float], list[float]] | None:
    """Return the words of a table and the edges of its columns and rows; `None` for lines that do not make a table."""
    ys = _snap([(rule.top + rule.bottom) / 2 for rule in group if rule.x1 - rule.x0 > rule.bottom - rule.top])
    xs = _snap([(rule.x0 + rule.x1) / 2 for rule in group if rule.x1 - rule.x0 <= rule.bottom - rule.top])
    if len(ys) < 2:
        return None
    left, right = min(rule.x0 for rule in group), max(rule.x1 for rule in group)
    if xs:  # tables without lines at their sides
        xs = [*([left] if xs[0] - left > _OPEN else []), *xs, *([right] if right - xs[-1] > _OPEN else [])]
    area = Box(left, ys[0], right, ys[-1])
    inside = [word for word in words if area.has(*word.middle)]
    if not inside:
        return None
    if len(xs) < 3:
        parted = _segment_edges(group)
        xs = parted or _column_edges(inside, area)
        inside, ys = _find_rows(inside, words, xs, ys, each=bool(parted))
    if not (3 <= len(xs) <= _MAX_GRID and 2 <= len(ys) <= _MAX_GRID):
        return None
    return inside, xs, ys


def _segment_edges(group: list[Box]) -> list[float]:
    """Return the edges of columns when the lines across are drawn cell by cell; else nothing."""
    ends = [end for rule in group for end in (rule.x0, rule.x1)]
    edges = _snap(ends)
    seen = [sum(abs(end - edge) <= _SNAP for end in ends) for edge in edges]
    # Every edge inside ends two segments in every row.
    return edges if 3 <= len(edges) <= _MAX_GRID and min(seen) >= 2 and len(group) >= 2 * (len(edges) - 1) else []


def _find_rows(
    inside: list[Word], words: list[Word], xs: list[float], ys: list[float], *, each: bool
) -> tuple[list[Word], list[float]]:
    """Return the words and the edges of rows of a table with lines across only.

    With a line below `each` row, the head is above the first line; with few lines, as in books, every line of text is a row.
    """
    bases = _snap([word.base for word in inside])
    if not each and len(bases) > 1.5 * (len(ys) - 1) and _are_filled(inside, bases, xs):
        middles = [(low + high) / 2 for low, high in pairwise(bases)]
        size = inside[0].size
        return inside, [ys[0], *(middle - 0.3 * size for middle in middles), ys[-1]]
    height = sorted(high - low for low, high in pairwise(ys))[(len(ys) - 1) // 2]
    strip = Box(xs[0], ys[0] - height - 1, xs[-1], ys[0])
    head = [word for word in words if strip.has(*word.middle)]
    crossed = any(word.x0 < edge < word.x1 for word in head for edge in xs[1:-1])
    columns = {sum(word.middle[0] > edge for edge in xs) for word in head}
    if crossed or len(columns) < 2:
        return inside, ys
    return [*head, *inside], [strip.top, *ys]


def _are_filled(words: list[Word], bases: list[float], xs: list[float]) -> bool:
    """Return whether most lines of text have words in most columns, as rows have; lines of wrapped cells have not."""
    places = {(sum(word.base >= base - 0.1 for base in bases), sum(word.middle[0] > x for x in xs)) for word in words}
    return len(places) > _MIN_FILLED * len(bases) * (len(xs) - 1)


def _connected(rules: list[Box]) -> list[list[Box]]:
    """Return groups of lines that touch each other, or share both ends as the lines between rows do."""
    groups: list[tuple[Box, list[Box]]] = []
    for rule in sorted(rules, key=lambda rule: (rule.top, rule.x0)):
        groups = _add_group(groups, rule, [rule])
    joined: list[tuple[Box, list[Box]]] = []
    for area, group in sorted(groups, key=lambda one: (one[0].top, one[0].x0)):  # rows drawn cell by cell are whole now
        joined = _add_group(joined, area, group)
    return [group for _, group in joined if len(group) >= 3]


def _add_group(groups: list[tuple[Box, list[Box]]], area: Box, mine: list[Box]) -> list[tuple[Box, list[Box]]]:
    """Return the groups with one more, joined with those that it belongs to."""
    rest = []
    for other, group in groups:
        if _is_near(area, other):
            mine = group + mine
            area = Box(
                min(area.x0, other.x0), min(area.top, other.top), max(area.x1, other.x1), max(area.bottom, other.bottom)
            )
        else:
            rest.append((other, group))
    return [*rest, (area, mine)]


def _is_near(rule: Box, area: Box) -> bool:
    touches = (
        rule.x0 < area.x1 + _SNAP
        and rule.x1 > area.x0 - _SNAP
        and rule.top < area.bottom + _SNAP
        and rule.bottom > area.top - _SNAP
    )
    same_ends = abs(rule.x0 - area.x0) < _SNAP and abs(rule.x1 - area.x1) < _SNAP and rule.top - area.bottom < _MAX_ROW
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


def join_aligned_rows(lines: list[Line], page: int) -> list[Line | Block]:
    """Return the lines with runs of rows that have gaps at the same places as tables."""
    result: list[Line | Block] = []
    run: list[Line] = []
    gaps: list[Gap] = []
    sizes = sorted(line.size for line in lines)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    for line in lines:
        if run and _is_wrapped(run, gaps, line):
            run[-1].words += line.words
            continue
        shared = _shared_gaps(gaps, line) if run and _follows(run[-1], line) else []
        if not shared:
            at_edge = bool(run) and (not result or _is_above(run[0], result[-1]) or _is_above(line, run[-1]))
            result += _end_run(run, gaps, page, at_edge=at_edge and run[0].size < 1.1 * usual)
            run, shared = [], _find_gaps(line)
        if shared:
            run.append(line)
            gaps = shared
        else:
            result.append(line)
    return [*result, *_end_run(run, gaps, page, at_edge=bool(run) and run[0].size < 1.1 * usual)]


def _end_run(run: list[Line], gaps: list[Gap], page: int, *, at_edge: bool) -> Sequence[Line | Block]:
    """Return a run of rows as a table, or as they are if they are too few or justified text.

    At the edge of a column or page a table may have only two rows, or its head alone.
    """
    least = _MIN_ALIGNED_ROWS if not at_edge else 1 if run and is_bold(run[0]) else 2
    return [_make_aligned(run, gaps, page)] if len(run) >= least and not _is_justified(run, gaps) else run


def _is_above(line: Line, before: Line | Block) -> bool:
    """Return whether a line is above the one before it: a new column begins."""
    last = before if isinstance(before, Line) else before.lines[-1]
    return line.bottom < last.top


def _is_justified(run: list[Line], gaps: list[Gap]) -> bool:
    """Return whether all lines begin and end at the same places, and the gaps are at most stretched spaces."""
    begins, ends = [line.x0 for line in run[1:] or run], [line.x1 for line in run]  # the first may be indented
    if len(run) < 2 or max(begins) - min(begins) >= 1.5 or max(ends) - min(ends) >= 1.5:
        return False
    return max(high - low for low, high in gaps) < _STRETCHED * run[0].size or sum(map(_is_even, run)) > len(run) / 2


def _is_even(line: Line) -> bool:
    """Return whether all spaces of a line have about the same width."""
    spaces = [right.x0 - left.x1 for left, right in pairwise(line.words) if not right.glued]
    return len(spaces) > 1 and max(spaces) < _EVEN * min(spaces)


Gap = tuple[float, float]


def _follows(before: Line, after: Line) -> bool:
    return 0 < after.base - before.base < 3.2 * before.size and abs(after.size - before.size) < 0.2 * before.size


def _is_wrapped(run: list[Line], gaps: list[Gap], line: Line) -> bool:
    """Return whether a line is the rest of a cell in the last row: inside one column but the first, and near."""
    if len(run) < 2 or abs(line.base - run[-1].base) > _NEXT_LINE * line.size or line.size != run[-1].size:
        return False
    columns = {sum(x > (low + high) / 2 for low, high in gaps) for x in (line.x0, line.x1)}
    return len(columns) == 1 and 0 not in columns


def _find_gaps(line: Line) -> list[Gap]:
    """Return the wide gaps of a line; those in code and that behind the marker of an item or note are not any."""
    if line.bullet or is_mono(line) or is_numbered_code(line):
        return []
    cells = split_cells(line, _CELL_GAP)
    if len(cells[0]) == 1 and (find_marker(line) or (NOTE_MARK.fullmatch(line.words[0].text) and len(cells) == 2)):
        cells = [cells[0] + cells[1], *cells[2:]] if len(cells) > 1 else cells
    return [(left[-1].x1, right[0].x0) for left, right in pairwise(cells)]


def _shared_gaps(gaps: list[Gap], line: Line) -> list[Gap]:
    """Return the parts of the gaps that are empty in this line too; a gap beside an empty cell stays as it is."""
    others = [(float("-inf"), line.words[0].x0), *_find_gaps(line), (line.words[-1].x1, float("inf"))]
    if len(others) == 2:
        return []
    shared = []
    for low, high in gaps:
        cut = [(max(low, a), min(high, b)) for a, b in others if min(high, b) - max(low, a) > _MIN_SHARED * line.size]
        shared += cut[:1]
    return shared


def _make_aligned(run: list[Line], gaps: list[Gap], page: int) -> Block:
    edges = [(low + high) / 2 for low, high in gaps]
    rows = []
    for line in run:
        groups: list[list[Word]] = [[] for _ in range(len(edges) + 1)]
        for word in line.words:
            groups[sum(word.middle[0] > edge for edge in edges)].append(word)
        rows.append([Cell([Line(group).measure()] if group else []) for group in groups])
    _mark_headers(rows)
    return Block("table", run, page, rows=rows)
