"""Lines to blocks: paragraphs, list items and code; what the ends of columns and pages part is joined."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Final

from pagekeep.capture.documents.pdf.values import Block, Box, Line, PdfPage

_MARKER: Final = re.compile(
    r"(?P<bullet>[•◦▪▫●○■□‣⁃∙·*➢➤✓✔–—-])(?=\s|$)|(?P<number>\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)])(?=\s|$)", re.I
)
_FAR: Final = 1.28
"""Distance of baselines, in usual distances, from which a new paragraph begins."""
_LEADING: Final = (0.9, 2.2)
"""Distances of baselines within a paragraph, in type sizes."""
_SHORT: Final = 0.82
"""Part of the column's width below which a line ends a paragraph, when its sentence ends too."""
_EARLY: Final = 0.4
"""Part of the column's width that is left free behind the last line of a paragraph, whatever its last character is."""
_MIN_INDENTS: Final = 3
"""First lines with the same indent from which the document marks its paragraphs so."""
_WIDER: Final = 1.12
"""How much wider a line may make its column, as those of a list or with punctuation in the margin do."""
_MIN_SUPPORT: Final = 0.15
"""Lines of a column, in parts of those of the fullest."""
_ENDS: Final = (".", "!", "?", ":", "。", "！", "？", "”", '"', "»", "…")


class Leading:
    """The habits of a document: the usual distance of baselines for each type size, and the indent of first lines."""

    def __init__(self, pages: list[list[Line]]) -> None:
        counts: dict[float, Counter[float]] = {}
        indents: Counter[int] = Counter()
        for lines in pages:
            columns = find_columns(lines)
            for before, after in itertools.pairwise(lines):
                gap = after.base - before.base
                if before.size == after.size and _LEADING[0] * before.size < gap < _LEADING[1] * before.size:
                    counts.setdefault(before.size, Counter())[round(gap * 2) / 2] += 1
                    indents[_first_indent(before, after, columns)] += 1
        self._usual = {size: min(gaps, key=lambda gap: (-gaps[gap], gap)) for size, gaps in counts.items()}
        del indents[0]
        found, times = max(indents.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        self.indent = found if times >= _MIN_INDENTS else 0
        """Indent of the first lines of paragraphs, in points; 0 without one."""

    def of(self, size: float) -> float:
        """Return the usual distance for a type size."""
        return self._usual.get(size, 1.25 * size)

    def begins(self, line: Line, column: Box | None) -> bool:
        """Return whether a line has the indent of first lines."""
        return bool(self.indent) and column is not None and abs(line.x0 - column.x0 - self.indent) < 1.5


def _first_indent(line: Line, after: Line, columns: list[Box]) -> int:
    """Return by how much a line is indented, in points, if the next one begins at the edge of the column; else 0."""
    column = column_of(line, columns)
    if column is None or after.x0 - column.x0 > 1 or find_marker(line):
        return 0
    indent = line.x0 - column.x0
    return round(indent) if 0.6 * line.size < indent < 4 * line.size else 0


def is_mono(line: Line) -> bool:
    """Return whether a line is set in a typewriter font, but for a few characters."""
    mono = sum(len(word.text) for word in line.words if word.font.mono)
    return mono > 0.8 * sum(len(word.text) for word in line.words)


def is_numbered_code(line: Line) -> bool:
    """Return whether a line is set in a typewriter font behind its number in another font."""
    first = line.words[0]
    return len(line.words) > 1 and first.text.isdecimal() and not first.font.mono and is_mono(Line(line.words[1:]))


def is_bold(line: Line) -> bool:
    """Return whether all of a line is bold."""
    return all(word.font.bold for word in line.words)


def mark_bullets(page: PdfPage, lines: list[Line]) -> None:
    """Mark the lines that have a drawn bullet in front of them."""
    for line in lines:
        line.bullet = line.bullet or any(
            0 < line.x0 - dot.x1 < 2.2 * line.size and line.top < (dot.top + dot.bottom) / 2 < line.bottom
            for dot in page.dots
        )


def find_marker(line: Line) -> str:
    """Return the list marker that a line begins with, drawn or written."""
    if line.bullet:
        return "•"
    match = _MARKER.match(line.words[0].text)
    if match is None or len(line.words) < 2 or line.words[1].glued:
        return ""
    return match[0] if match.end() == len(line.words[0].text) else ""


def make_blocks(items: list[Line | Block], page: PdfPage, leading: Leading) -> list[Block]:
    """Return the blocks of the lines of one page, in the same order."""
    blocks: list[Block] = []
    columns = find_columns([item for item in items if isinstance(item, Line)])
    refs = {word.text.strip("()[],.") for item in items if isinstance(item, Line) for word in item.words if word.raised}
    for index, item in enumerate(items):
        if isinstance(item, Block):
            blocks.append(item)
            continue
        last = blocks[-1] if blocks and blocks[-1].kind != "table" else None
        if (is_mono(item) or is_numbered_code(item)) and not _has_bullet(item):
            following = items[index + 1] if index + 1 < len(items) else None
            if last and last.kind == "text" and _is_end(last, item, following, leading, columns):
                last.lines.append(item)
                continue
            if is_numbered_code(item):
                item.words = item.words[1:]
                item.measure()
            if last and last.kind == "code" and 0 < item.base - last.lines[-1].base < 4.5 * item.size:
                last.lines.append(item)
            else:
                blocks.append(Block("code", [item], page.index))
        elif (
            last
            and last.kind != "code"
            and not _begins_note(item, last, refs)
            and _continues(last, item, leading, columns)
        ):
            last.lines.append(item)
        else:
            blocks.append(_begin(item, page.index))
    edges = _left_edges(blocks, columns)
    for block in blocks:
        _settle_code(block)
        _measure(block, columns, edges)
    return blocks


def _left_edges(blocks: list[Block], columns: list[Box]) -> dict[Box, float]:
    """Return where most lines of paragraphs begin in each column: headings may begin further to the left."""
    counts: dict[Box, Counter[int]] = {}
    for block in blocks:
        for line in block.lines if block.kind == "text" and len(block.lines) > 1 else ():
            column = column_of(line, columns)
            if column is not None:
                counts.setdefault(column, Counter())[round(line.x0)] += 1
    return {column: min(found, key=lambda x: (-found[x], x)) for column, found in counts.items()}


def _begins_note(line: Line, block: Block, refs: set[str]) -> bool:
    """Return whether a line begins with the number of a note that the page refers to, in the size of notes."""
    first = line.words[0]
    return len(line.words) > 1 and (first.raised or block.lines[0].words[0].text in refs) and first.text in refs


def _measure(block: Block, columns: list[Box], edges: dict[Box, float]) -> None:
    """Set how far a block is from the edges of its column, and whether it is in its middle."""
    column = column_of(block.lines[0], columns) if block.kind == "text" else None
    if column is None:
        return
    left, right = min(line.x0 for line in block.lines), max(line.x1 for line in block.lines)
    even = all(abs(line.x0 - left) < 0.3 * line.size for line in block.lines)
    before, behind = left - column.x0, column.x1 - right
    inside = left - max(edges.get(column, column.x0), column.x0)
    if even and len(block.lines) > 1 and behind > 0.6 * inside:
        block.inset = inside / block.size
    short = right - left < 0.6 * (column.x1 - column.x0)
    block.centred = short and before > block.size and abs(before - behind) < block.size


def _has_bullet(line: Line) -> bool:
    """Return whether a line begins with a bullet in another font than its code."""
    return bool(find_marker(line)) and not line.words[0].font.mono and not line.words[0].text[:1].isalnum()


def _is_end(block: Block, line: Line, following: Line | Block | None, leading: Leading, columns: list[Box]) -> bool:
    """Return whether a single line in a typewriter font is the end of the paragraph before it, not code."""
    column = column_of(block.lines[-1], columns)
    if column is None or (isinstance(following, Line) and is_mono(following)) or block.text.endswith(":"):
        return False
    full = block.lines[-1].x1 > column.x1 - 0.15 * (column.x1 - column.x0)
    return full and abs(line.x0 - block.lines[-1].x0) < 1 and _continues(block, line, leading, columns)


def _begin(line: Line, page: int) -> Block:
    marker = find_marker(line)
    if not marker:
        return Block("text", [line], page)
    return Block("item", [line], page, marker=marker)


def _settle_code(block: Block) -> None:
    """A single typewriter line that ends like a sentence is text."""
    if block.kind == "code" and len(block.lines) == 1 and not any(word.font.mono for word in block.words[:1]):
        block.kind = "text"


def find_columns(lines: list[Line]) -> list[Box]:
    """Return the left and right edges of the columns: those of many lines, not of titles across or between them."""
    columns: list[Box] = []
    counts: list[int] = []
    for line in sorted(lines, key=lambda line: line.x0 - line.x1):
        for index, column in enumerate(columns):
            inside = min(line.x1, column.x1) - max(line.x0, column.x0)
            if inside > 0 and max(line.x1, column.x1) - min(line.x0, column.x0) < _WIDER * (column.x1 - column.x0):
                columns[index] = Box(min(line.x0, column.x0), 0, max(line.x1, column.x1), 0)
                counts[index] += 1
                break
        else:
            columns.append(Box(line.x0, 0, line.x1, 0))
            counts.append(1)
    most = max(counts, default=0)
    ranked = sorted(zip(counts, columns, strict=True), key=lambda one: (-one[0], one[1]))
    kept: list[Box] = []
    for count, column in ranked:
        if count >= _MIN_SUPPORT * most and not any(column.x0 < one.x1 and column.x1 > one.x0 for one in kept):
            kept.append(column)
    return kept


def column_of(line: Line, columns: list[Box]) -> Box | None:
    """Return the column that a line is in."""
    return next((column for column in columns if column.x0 - 1 <= line.x0 < column.x1), None)


def _continues(block: Block, line: Line, leading: Leading, columns: list[Box]) -> bool:
    """Return whether a line belongs to the paragraph or item before it."""
    last, first, size = block.lines[-1], block.lines[0], line.size
    gap = line.base - last.base
    if abs(size - last.size) > 0.08 * last.size or gap <= 0.3 * size or gap > _FAR * leading.of(size) + 0.5:
        return False
    if line.x0 > last.x1 or line.x1 < last.x0 or find_marker(line):
        return False
    if is_bold(line) != is_bold(last) and (is_bold(line) or len(block.lines) == 1 or is_bold(first)):
        return False
    indent = line.x0 - last.x0
    if block.kind == "item":
        start = item_start(block)
        if _ends_early(block, line, column_of(last, columns)):
            return False
        return abs(line.x0 - start) < 0.8 * size or (len(block.lines) > 1 and abs(indent) < 0.3 * size)
    column = column_of(last, columns)
    if leading.begins(line, column) and (abs(indent) > 1 or _has_room(last, line, column)):
        return False
    if len(block.lines) == 1:
        if indent > 0.6 * size and not _is_centred([first], line):
            return False
    elif abs(indent) > 0.6 * size and not _is_centred(block.lines, line):
        return False
    if _ends_early(block, line, column):
        return False
    width = column.x1 - column.x0 if column else last.x1 - last.x0
    right = column.x1 if column else last.x1
    if column and min(last.x0, line.x0, first.x0) - column.x0 > size:  # a quote, whose lines end before the column does
        right = max(line.x1, *(one.x1 for one in block.lines))
    room = right - last.x1
    word = line.words[0]
    fits = room > word.x1 - word.x0 + 0.6 * size
    return not (fits and last.x1 - (column.x0 if column else last.x0) < _SHORT * width and last.text.endswith(_ENDS))


def _has_room(last: Line, line: Line, column: Box | None) -> bool:
    """Return whether the first word of a line would have fit behind the line before."""
    word = line.words[0]
    return column is not None and column.x1 - last.x1 > word.x1 - word.x0 + line.size


def _ends_early(block: Block, line: Line, column: Box | None) -> bool:
    """Return whether a line is so short that the next one would have begun on it, were they one paragraph."""
    if column is None or _is_centred(block.lines, line):
        return False
    last, word = block.lines[-1], line.words[0]
    right = max(one.x1 for one in block.lines) if len(block.lines) > 1 else min(column.x1, line.x1 + 2 * line.size)
    return right - last.x1 > max(_EARLY * (column.x1 - column.x0), word.x1 - word.x0 + line.size)


def _is_centred(lines: list[Line], line: Line) -> bool:
    return all(abs((one.x0 + one.x1) - (line.x0 + line.x1)) / 2 < 0.3 * line.size for one in lines)


_STEP: Final = 0.6
"""Indent, in type sizes, from which an item is deeper than the one before."""


def settle_items(blocks: list[Block]) -> None:
    """Turn lone numbered lines back into text, and set the depth of the other items."""
    stack: list[float] = []
    for index, block in enumerate(blocks):
        if block.kind != "item":
            stack = []
            continue
        if any(map(str.isalnum, block.marker)) and not _has_neighbour(blocks, index):
            block.kind, block.marker = "text", ""
            stack = []
            continue
        before = blocks[index - 1] if index else None
        if before and before.lines and (block.page != before.page or block.lines[0].bottom < before.lines[-1].top):
            stack = []  # in another column, the edge is elsewhere
        block.level = _find_depth(stack, item_start(block), block.size)


def nest_items(blocks: list[Block]) -> None:
    """Set the depth of items whose structure tree has deeper lists beside their parent, not in it: by their indents."""
    stack: list[float] = []
    before: Block | None = None
    for block in blocks:
        if block.kind != "item":
            before = None
            continue
        if before is None or block.level or block.lines[0].top < before.lines[-1].top:
            stack = []  # a new list, or a new column
        block.level = max(block.level, _find_depth(stack, block.lines[0].x0, block.size))
        before = block


def _find_depth(stack: list[float], start: float, size: float) -> int:
    """Return how deep an item is by the place where it starts; `stack` has the starts of the items around it."""
    while stack and start < stack[-1] - _STEP * size:
        stack.pop()
    if not stack or start > stack[-1] + _STEP * size:
        stack.append(start)
    return len(stack) - 1


def item_start(block: Block) -> float:
    """Return where the text of an item begins."""
    line = block.lines[0]
    return line.x0 if line.bullet or len(line.words) < 2 else line.words[1].x0


def _has_neighbour(blocks: list[Block], index: int) -> bool:
    near = blocks[max(0, index - 1) : index] + blocks[index + 1 : index + 2]
    return any(block.kind == "item" for block in near)


def strip_marker(block: Block) -> None:
    """Drop the written marker from an item's first line."""
    line = block.lines[0]
    if not line.bullet and len(line.words) > 1 and line.words[0].text == block.marker:
        line.words = line.words[1:]
        line.measure()


_ENDS_OF_PARTS: Final = (".", "!", "?", ":", "。", "！", "？", "”", '"', "»", "…", ";")

_MOSTLY: Final = 0.6
_FULL: Final = 0.85
"""Part of the widest line from which a last line is full."""

_HALF: Final = 0.5
"""Part of the widest line from which a last line that does not end a sentence goes on."""


def join_parted(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with each one that goes on in the next column or on the next page in one piece."""
    result: list[Block] = []
    indented = _indents_paragraphs(blocks)
    for block in blocks:
        before = next((one for one in reversed(result[-8:]) if one.kind != "note"), None)
        if before is not None and block.kind != "note" and _is_parted(before, block) and _join(before, block, indented):
            continue
        result.append(block)
    return result


def dissolve_rows(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with tables of a single row as text."""
    for block in blocks:
        if block.kind == "table" and len(block.rows) == 1:
            block.kind = "text"
            block.rows = []
    return blocks


def _is_parted(before: Block, after: Block) -> bool:
    """Return whether a new column or page begins between two blocks."""
    if after.page != before.page:
        return after.page == before.page + 1
    return bool(before.lines and after.lines) and after.lines[0].bottom < before.lines[-1].top


def _indents_paragraphs(blocks: list[Block]) -> bool:
    """Return whether the document marks the beginning of paragraphs by an indent."""
    long = [block for block in blocks if block.kind == "text" and len(block.lines) > 1]
    return sum(map(_is_indented, long)) > _MOSTLY * len(long)


def _is_indented(block: Block) -> bool:
    return len(block.lines) > 1 and block.lines[0].x0 > block.lines[1].x0 + 0.6 * block.size


def _join(before: Block, after: Block, indented: bool) -> bool:
    if before.kind == after.kind == "code":
        before.lines += _shift(before, after)
    elif before.kind == after.kind == "table" and len(before.rows[-1]) == len(after.rows[0]):
        first, head = _row_text(after, 0), _row_text(before, 0)
        if first != head:
            for cell in after.rows[0]:
                cell.header = False
        before.rows += after.rows[1:] if first == head else after.rows
    elif _goes_on(before, after, indented):
        before.lines += after.lines
    else:
        return False
    before.page = after.page  # only headings show their page
    return True


def _row_text(block: Block, index: int) -> list[str]:
    return [" ".join(line.text for line in cell.lines) for cell in block.rows[index]]


def _shift(before: Block, after: Block) -> list[Line]:
    """Return the lines of the second part, moved to the left edge of the first."""
    by = min(line.x0 for line in before.lines) - min(line.x0 for line in after.lines)
    if before.page == after.page:
        for line in after.lines:
            for word in line.words:
                word.x0 += by
                word.x1 += by
            line.measure()
    return after.lines


def _goes_on(before: Block, after: Block, indented: bool) -> bool:
    if before.kind not in ("text", "item", "quote") or after.kind not in ("text", "quote"):
        return after.kind == "item" and before.kind == "item" and after.marker == "" and not after.lines[0].bullet
    if before.kind == "quote" != after.kind or abs(before.lines[-1].size - after.size) > 0.08 * after.size:
        return False
    if (
        before.kind == "item"
        and abs(after.lines[0].x0 - item_start(before)) > 1.5 * after.size
        and before.page == after.page
    ):
        return False
    text, following = before.text, after.text
    if text.endswith(("\u2010", "-", ",")):
        return True
    if text.endswith(_ENDS_OF_PARTS):
        return indented and before.kind == after.kind == "text" and not _is_indented(after) and _ends_full(before)
    is_lower = following[:1].islower() or not following[:1].isupper()
    return is_lower or _is_cjk(following) or _ends_full(before, _HALF)


def _ends_full(block: Block, least: float = _FULL) -> bool:
    """Return whether the last line of a paragraph is about as long as the others: then its sentence goes on."""
    widest = max(line.x1 - line.x0 for line in block.lines)
    last = block.lines[-1]
    return len(block.lines) > 1 and last.x1 - last.x0 > least * widest


def _is_cjk(text: str) -> bool:
    return bool(text) and "\u2e80" <= text[0] <= "\u9fff"
