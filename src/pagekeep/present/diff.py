"""Differences between two texts: line by line, and word by word as blocks that a reader can show."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from pagekeep.text import strip_markdown

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


Operation = Literal["same", "added", "removed"]
BlockKind = Literal["same", "changed", "added", "removed", "skipped"]

CONTEXT_BLOCKS: Final = 1
"""Unchanged blocks shown before and after each change."""
MAX_BLOCKS: Final = 5_000
"""Blocks in a result; the rest is counted and not shown."""
_MAX_WORK: Final = 300_000
"""Words and pairs of words that are looked at in one changed part, about a quarter of a second."""
_MIN_SHARED: Final = 0.3
"""Changed parts that share a smaller share of their words are shown one after the other: word by word they are a puzzle."""
_SERIES: Final = 4
"""Tokens of a series by which long texts are matched."""
_FEW_PAIRS: Final = 40_000
"""Texts with at most this many pairs of tokens (200 by 200) are matched directly."""
_SHORT_WORDS: Final = 12
"""Characters of unchanged words between two changes that are shown as changed too: single words in between read badly."""
_Pair = tuple[int, int]
_BREAK: Final = "\n\n"
_CJK: Final = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"\n\n| ?[{_CJK}]| ?[^\W{_CJK}]+|\s+|.", re.DOTALL)
"""A word with the space before it, a sign of a script without spaces, or anything else; half as many tokens as with spaces
by themselves."""
_WORD: Final = re.compile(r"\w")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_HEAD: Final = re.compile(r"\s*(?:#{1,6} |[-*+] |\d{1,9}[.)] |> ?|\| ?)*")
"""Signs at the beginning of a block that show what it is: they stay when markup is removed."""
_MAX_STRIPPED_CHARS: Final = 20_000
"""Of a longer block the source is compared: finding links takes quadratic time at worst."""


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a block that are the same on both sides, or only on one."""

    operation: Operation
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or another block."""

    kind: BlockKind
    parts: tuple[Part, ...] = ()
    count: int = 0
    """Blocks that are skipped."""


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The differences between two texts."""

    blocks: tuple[Block, ...]
    added: int
    """Words."""
    removed: int
    cut: bool = False
    """Whether only the first blocks are shown."""

    @property
    def excerpt(self) -> str:
        """The first words that are new, or else those that were removed."""
        for operation in ("added", "removed"):
            for block in self.blocks:
                for part in block.parts:
                    if part.operation == operation and _WORD.search(part.text):
                        return " ".join(part.text.split())[:200]
        return ""


def compare_words(before: str, after: str, *, context: int = CONTEXT_BLOCKS) -> WordDiff:
    """Return the differences of two Markdown texts, with little of what is the same around them."""
    old, new = split_blocks(before), split_blocks(after)
    try:
        matches = match_lines(old, new)
    except TooDifferent:
        matches = []
    changed: list[Block] = []
    for old_part, new_part, same in _parts(old, new, matches):
        changed += [Block("same", (Part("same", text),)) for text in same] if same else _compare(old_part, new_part)
    shown = list(_with_context(changed, context))
    return WordDiff(
        tuple(shown[:MAX_BLOCKS]), _count(changed, "added"), _count(changed, "removed"), len(shown) > MAX_BLOCKS
    )


def split_blocks(text: str) -> list[str]:
    """Return the blocks of a Markdown text: paragraphs, list items, rows of tables, and lines of code."""
    blocks: list[str] = []
    in_code = False
    paragraph: list[str] = []
    for line in text.splitlines():
        is_fence = bool(_FENCE.match(line))
        if in_code or is_fence or not line.strip() or _is_own_block(line):
            if paragraph:
                blocks.append(" ".join(paragraph))
                paragraph = []
            if line.strip() and not is_fence:
                blocks.append(line.rstrip())
            in_code ^= is_fence
        else:
            paragraph.append(line.strip())
    if paragraph:
        blocks.append(" ".join(paragraph))
    return blocks


def _is_own_block(line: str) -> bool:
    head = _HEAD.match(line)
    return head is not None and bool(head.group().strip())


def _parts(
    old: list[str], new: list[str], matches: Sequence[tuple[int, int]]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield the differing blocks of both texts and, in between, those that are the same."""
    old_at = new_at = 0
    same: list[str] = []
    for old_match, new_match in (*matches, (len(old), len(new))):
        if old_at < old_match or new_at < new_match:
            if same:
                yield [], [], same
                same = []
            yield old[old_at:old_match], new[new_at:new_match], []
        if old_match < len(old):
            same.append(old[old_match])
        old_at, new_at = old_match + 1, new_match + 1
    if same:
        yield [], [], same


def _compare(old: list[str], new: list[str]) -> list[Block]:
    """Return the blocks of a part that differs, word by word where enough of it is the same."""
    if not old or not new:
        return [
            Block("removed" if old else "added", (Part("removed" if old else "added", text),)) for text in old or new
        ]
    before, after = (_BREAK.join(map(_readable, blocks)) for blocks in (old, new))
    if before == after:  # only markup or an address differs
        before, after = _BREAK.join(old), _BREAK.join(new)
    old_tokens, new_tokens = _TOKEN.findall(before), _TOKEN.findall(after)
    matches = _match_tokens(old_tokens, new_tokens)
    shared = _words([old_tokens[place] for place, _ in matches])
    if shared < _MIN_SHARED * max(1, min(_words(old_tokens), _words(new_tokens))):
        return [*_compare(old, []), *_compare([], new)]
    return list(_to_blocks(_merge(_runs(matches, len(old_tokens), len(new_tokens)), old_tokens, new_tokens)))


def _match_tokens(old: list[str], new: list[str]) -> list[_Pair]:
    """Return the tokens that both have, as pairs of places in order.

    Few words are unique in a long text, but most series of a few words are: those are matched first, and then what is between.
    """
    if len(old) * len(new) <= _FEW_PAIRS:
        return _match_or_none(old, new)
    series = [
        ["\0".join(tokens[at : at + _SERIES]) for at in range(len(tokens) - _SERIES + 1)] for tokens in (old, new)
    ]
    anchors: list[_Pair] = []
    for old_at, new_at in match_unique(*series):
        for offset in range(_SERIES):
            pair = (old_at + offset, new_at + offset)
            if not anchors or (pair[0] > anchors[-1][0] and pair[1] > anchors[-1][1]):
                anchors.append(pair)
    matches: list[_Pair] = []
    old_from = new_from = 0
    for old_to, new_to in (*anchors, (len(old), len(new))):
        between = old[old_from:old_to], new[new_from:new_to]
        if all(between):
            matches += ((old_from + one, new_from + other) for one, other in _match_or_none(*between))
        if old_to < len(old):
            matches.append((old_to, new_to))
        old_from, new_from = old_to + 1, new_to + 1
    return matches


def _match_or_none(old: list[str], new: list[str]) -> list[_Pair]:
    if len(old) == 1:
        return [(0, new.index(old[0]))] if old[0] in new else []
    if not set(old).intersection(new):
        return []
    try:
        return match_lines(old, new, _MAX_WORK)
    except TooDifferent:
        return []


def _readable(block: str) -> str:
    """Return a block without inline markup and link targets, but with the signs that show what it is."""
    if len(block) > _MAX_STRIPPED_CHARS:
        return block
    head = _HEAD.match(block)
    start = head.end() if head else 0
    return block[:start] + (strip_markdown(block[start:]) or block[start:])


def _words(tokens: Sequence[str]) -> int:
    return sum(1 for token in tokens if token[-1].isalnum())


@dataclass(slots=True)
class _Run:
    """Tokens of both sides, from and up to these places, that are the same or differ."""

    same: bool
    old: tuple[int, int]
    new: tuple[int, int]


def _runs(matches: Sequence[_Pair], old_end: int, new_end: int) -> list[_Run]:
    """Return the series of tokens that match and those that do not, in turn."""
    runs: list[_Run] = []
    old_at = new_at = 0
    for old_match, new_match in (*matches, (old_end, new_end)):
        if old_at < old_match or new_at < new_match:
            runs.append(_Run(False, (old_at, old_match), (new_at, new_match)))
        if old_match == old_end:
            break
        if runs and runs[-1].same:
            runs[-1].old, runs[-1].new = (runs[-1].old[0], old_match + 1), (runs[-1].new[0], new_match + 1)
        else:
            runs.append(_Run(True, (old_match, old_match + 1), (new_match, new_match + 1)))
        old_at, new_at = old_match + 1, new_match + 1
    return runs


def _merge(runs: Sequence[_Run], old: list[str], new: list[str]) -> Iterator[Part]:
    """Yield the parts; few unchanged words between two changes are taken to the changes, so that phrases stay whole."""
    joined: list[_Run] = []
    for place, run in enumerate(runs):
        between = run.same and 0 < place < len(runs) - 1 and _is_short(old[slice(*run.old)])
        if joined and not joined[-1].same and (between or not run.same):
            joined[-1].old, joined[-1].new = (joined[-1].old[0], run.old[1]), (joined[-1].new[0], run.new[1])
        else:
            joined.append(_Run(run.same, run.old, run.new))
    _align(joined, old, new)
    for run in joined:
        removed, added = "".join(old[slice(*run.old)]), "".join(new[slice(*run.new)])
        if run.same:
            if removed:
                yield Part("same", removed)
            continue
        if removed.startswith(" ") and added.startswith(" "):  # the space before both is the same
            yield Part("same", " ")
            removed, added = removed[1:], added[1:]
        if removed:
            yield Part("removed", removed)
        if added:
            yield Part("added", added)


def _align(runs: Sequence[_Run], old: list[str], new: list[str]) -> None:
    """Let whole paragraphs that were added or removed begin at their break: the full stop before is the one that stays."""
    for run, following, before in zip(runs[1:], runs[2:], runs, strict=False):
        if run.same or not (following.same and before.same) or (run.old[0] < run.old[1]) == (run.new[0] < run.new[1]):
            continue
        tokens, (start, end) = (old, run.old) if run.old[0] < run.old[1] else (new, run.new)
        shift = next((place for place in range(_MAX_SHIFT) if tokens[start + place : start + place + 1] == [_BREAK]), 0)
        fits = shift <= following.old[1] - following.old[0] and shift < end - start
        if shift and fits and tokens[start : start + shift] == tokens[end : end + shift]:
            for one, side in ((run, (shift, shift)), (before, (0, shift)), (following, (shift, 0))):
                one.old = (one.old[0] + side[0], one.old[1] + side[1])
                one.new = (one.new[0] + side[0], one.new[1] + side[1])


_MAX_SHIFT: Final = 4
"""Tokens at the end of a paragraph, such as a full stop and a quotation mark, that two paragraphs may share."""


def _is_short(tokens: Sequence[str]) -> bool:
    return len(tokens) <= _SHORT_WORDS and _BREAK not in tokens and len("".join(tokens)) <= _SHORT_WORDS


def _to_blocks(parts: Iterable[Part]) -> Iterator[Block]:
    """Yield the parts as blocks; a break of paragraphs ends a block, whichever side has it."""
    block: list[Part] = []
    for part in parts:
        for number, text in enumerate(part.text.split(_BREAK)):
            if number and block:
                yield _block(block)
                block = []
            if text and block and block[-1].operation == part.operation:
                block[-1] = Part(part.operation, block[-1].text + text)
            elif text:
                block.append(Part(part.operation, text))
    if block:
        yield _block(block)


def _block(parts: Sequence[Part]) -> Block:
    operations = {part.operation for part in parts}
    kind: BlockKind = operations.pop() if len(operations) == 1 else "changed"
    return Block(kind, tuple(parts))


def _with_context(blocks: Sequence[Block], context: int) -> Iterator[Block]:
    """Yield the changed blocks with some of the unchanged ones around them, and how many are left out between."""
    changed = [place for place, block in enumerate(blocks) if block.kind != "same"]
    skipped = 0
    for place, block in enumerate(blocks):
        near = bisect_left(changed, place)
        distances = [abs(place - other) for other in changed[max(0, near - 1) : near + 1]]
        if min(distances, default=context + 1) <= context:
            if skipped:
                yield Block("skipped", count=skipped)
                skipped = 0
            yield block
        else:
            skipped += 1
    if skipped and changed:
        yield Block("skipped", count=skipped)


def _count(blocks: Sequence[Block], operation: Operation) -> int:
    texts = (part.text for block in blocks for part in block.parts if part.operation == operation)
    return sum(_words(_TOKEN.findall(text)) for text in texts)
