"""Line-by-line differences between two versions of a text."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

CONTEXT_LINES: Final = 2
MAX_WORK: Final = 1_000_000
"""Lines and pairs of lines that are looked at, about a second. A page of 5,000 lines in which every fifth is changed takes
30,000."""
_SMALL_PAIRS: Final = 2_500
"""Parts with at most this many pairs of lines (50 by 50) are compared by difflib, which is quadratic or worse."""
_MAX_BLOCK_LINES: Final = 2_000
"""Lines that are shown as one changed block when nothing in them can be matched."""

_Match = tuple[int, int]


class TooDifferent(Exception):
    """Comparing the texts takes too much work."""


def difference(before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff without its file names; nothing if both texts are equal.

    Texts that are too different to compare with bounded work give a single line with counts.
    """
    if before == after:
        return
    old, new = before.splitlines(), after.splitlines()
    try:
        matcher = _matcher(old, new, match_lines(old, new))
    except TooDifferent:
        yield _summarise(old, new)
        return
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_format_range(old_start, old_end)} +{_format_range(new_start, new_end)} @@"
        for operation, old_from, old_to, new_from, new_to in group:
            if operation == "equal":
                yield from (f" {line}" for line in old[old_from:old_to])
            else:
                yield from (f"-{line}" for line in old[old_from:old_to])
                yield from (f"+{line}" for line in new[new_from:new_to])


def match_lines(old: list[str], new: list[str], max_work: int = MAX_WORK) -> list[_Match]:
    """Return the lines that both texts have, as pairs of line numbers in order; raise `TooDifferent` (a "patience diff").

    Lines that occur once on both sides divide the texts into parts, which are compared in the same way.
    """
    matches: list[_Match] = []
    parts, work = [(0, len(old), 0, len(new))], 0
    while parts:
        old_start, old_end, new_start, new_end = parts.pop()
        while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
            matches.append((old_start, new_start))
            old_start, new_start = old_start + 1, new_start + 1
        while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
            matches.append((old_end, new_end))
        old_count, new_count = old_end - old_start, new_end - new_start
        if not old_count or not new_count:
            continue
        is_small = old_count * new_count <= _SMALL_PAIRS
        work += old_count * new_count if is_small else old_count + new_count
        if work > max_work:
            raise TooDifferent
        old_lines, new_lines = old[old_start:old_end], new[new_start:new_end]
        found = _match_small(old_lines, new_lines) if is_small else match_unique(old_lines, new_lines)
        if not found and old_count + new_count > _MAX_BLOCK_LINES:
            raise TooDifferent
        here = [(old_start + old_line, new_start + new_line) for old_line, new_line in found]
        matches += here
        if not is_small and here:
            starts = [(old_start, new_start), *((old_line + 1, new_line + 1) for old_line, new_line in here)]
            ends = [*here, (old_end, new_end)]
            parts += [(start[0], end[0], start[1], end[1]) for start, end in zip(starts, ends, strict=True)]
    return sorted(matches)


def _match_small(old: list[str], new: list[str]) -> list[_Match]:
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [(block.a + offset, block.b + offset) for block in blocks for offset in range(block.size)]


def match_unique(old: list[str], new: list[str]) -> list[_Match]:
    """Return the longest series of lines that occur once on both sides and in the same order."""
    old_counts, new_counts = Counter(old), Counter(new)
    place = {line: number for number, line in enumerate(new) if new_counts[line] == 1}
    ends: list[int] = []
    """The lowest place in `new` at which a series of each length ends."""
    last: list[_Match] = []
    before: dict[_Match, _Match | None] = {}
    for number, line in enumerate(old):
        if old_counts[line] == 1 and line in place:
            match = (number, place[line])
            length = bisect_left(ends, match[1])
            before[match] = last[length - 1] if length else None
            ends[length : length + 1], last[length : length + 1] = [match[1]], [match]
    series, match_before = [], last[-1] if last else None
    while match_before is not None:
        series.append(match_before)
        match_before = before[match_before]
    return series[::-1]


def _matcher(old: list[str], new: list[str], matches: list[_Match]) -> SequenceMatcher[str]:
    """Return a matcher of the standard library, which groups changes with their context, for known matches."""
    blocks: list[tuple[int, int, int]] = []
    for old_line, new_line in matches:
        if blocks and blocks[-1][0] + blocks[-1][2] == old_line and blocks[-1][1] + blocks[-1][2] == new_line:
            blocks[-1] = (*blocks[-1][:2], blocks[-1][2] + 1)
        else:
            blocks.append((old_line, new_line, 1))
    matcher = SequenceMatcher(None, old, new)
    matcher.matching_blocks = [*blocks, (len(old), len(new), 0)]  # type: ignore[attr-defined]
    return matcher


def _format_range(start: int, end: int) -> str:
    """Return a range of lines as in the header of a unified diff."""
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


def _summarise(old: list[str], new: list[str]) -> str:
    """Return one line with the number of lines that only one of the texts has."""
    before, after = Counter(old), Counter(new)
    removed, added = (before - after).total(), (after - before).total()
    counts = f"{len(old)} lines before, {len(new)} after; {removed} removed, {added} added"
    return f"@@ Too different to compare line by line: {counts} @@"
