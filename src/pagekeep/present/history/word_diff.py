"""Word-by-word differences between two texts, as blocks that a reader can show: paragraphs with what was added and removed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pagekeep.present.diff import TooDifferent, match_lines, match_unique
from pagekeep.text import strip_markdown

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
