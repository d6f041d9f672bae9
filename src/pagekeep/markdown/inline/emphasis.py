"""Emphasis that renders: delimiters hug their text and stand where CommonMark lets them open and close.

`resolve` takes a line in which bold, italic and struck text is fenced by marks (control characters) and turns the marks
into `**`, `*` and `~~`. Where CommonMark would not read a delimiter, as in `**bold:**text`, punctuation is moved out of
the emphasis (`**bold**:text`); where that does not help, the emphasis is given up and the words stay.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pagekeep.markdown.inline.escape import ATOM_END, ATOM_START, BRACKET, DOLLAR

STRONG: Final = "\x01"
STRONG_END: Final = "\x02"
EM: Final = "\x03"
EM_END: Final = "\x04"
STRIKE: Final = "\x05"
STRIKE_END: Final = "\x06"

ENDS: Final = {STRONG: STRONG_END, EM: EM_END, STRIKE: STRIKE_END}
STARTS: Final = {end: start for start, end in ENDS.items()}
_DELIMITER: Final = {
    STRONG: "**", STRONG_END: "**", EM: "*", EM_END: "*", STRIKE: "~~", STRIKE_END: "~~"
}  # fmt: skip

_MARKS: Final = re.compile("([\x01-\x06])")
_SPACE_INSIDE_START: Final = re.compile(r"([\x01\x03\x05]+)(\s+)")
_SPACE_INSIDE_END: Final = re.compile(r"(\s+)([\x02\x04\x06]+)")
_VOID: Final = re.compile("\x01\x02|\x03\x04|\x05\x06|\x02\x01|\x04\x03|\x06\x05")
_LOOSE: Final = re.compile(r"[\x01\x03\x05]\s|\s[\x02\x04\x06]|" + _VOID.pattern)
_MAX_PASSES: Final = 12
_MOVABLE_ASCII: Final = frozenset("\"'(),.:;?!-/ ")
_FIXED: Final = frozenset((ATOM_START, ATOM_END, DOLLAR, BRACKET))


def resolve(line: str) -> str:
    """The line with its marks made into delimiters."""
    pieces = _MARKS.split(line)
    if not _stand_alone(pieces[0::2], pieces[1::2]):
        pieces = _MARKS.split(_hug(line))
        if not _stand_alone(pieces[0::2], pieces[1::2]):
            return _Delimiters(pieces[0::2], pieces[1::2]).written()
    return "".join([_DELIMITER.get(piece, piece) for piece in pieces])


def _stand_alone(texts: list[str], marks: list[str]) -> bool:
    """Whether each emphasis is of whole words and touches no other, as nearly all do: then every delimiter is read."""
    if len(marks) % 2 or not all(texts[1:-1]):
        return False
    return all(
        ENDS.get(marks[at]) == marks[at + 1]
        and not texts[at + 1][0].isspace()
        and not texts[at + 1][-1].isspace()
        and _stands_apart(texts[at][-1:])
        and _stands_apart(texts[at + 2][:1])
        for at in range(0, len(marks), 2)
    )


def _hug(line: str) -> str:
    """Move spaces out of emphasis, drop emphasis of nothing, join emphasis that touches its like."""
    for _ in range(_MAX_PASSES):
        if not _LOOSE.search(line):
            break
        line = _SPACE_INSIDE_START.sub(r"\2\1", line)
        line = _SPACE_INSIDE_END.sub(r"\2\1", line)
        line = _VOID.sub("", line)
    return line


def _is_word(char: str) -> bool:
    """Neither space nor punctuation to any renderer (symbols are punctuation to some)."""
    if char in _FIXED or char.isspace():
        return False
    return char.isalnum() or unicodedata.category(char)[0] not in "PS"


def _stands_apart(char: str) -> bool:
    """Space, punctuation or the line's end to every renderer."""
    if not char or char.isspace():
        return True
    return not char.isalnum() if char.isascii() else unicodedata.category(char)[0] == "P"


def _movable(char: str) -> bool:
    return char in _MOVABLE_ASCII or (not char.isascii() and unicodedata.category(char)[0] == "P")


class _Delimiters:
    """`texts[i]` stands before `marks[i]`; the last text behind all marks."""

    def __init__(self, texts: list[str], marks: list[str]) -> None:
        self.texts = texts
        self.marks = marks
        self.partner = _partners(marks)
        self._triple_end = -1
        """Where the last emphasis ends that began as `***`."""
        for index, partner in enumerate(self.partner):
            if partner < 0:
                self.marks[index] = ""

    def written(self) -> str:
        start = 0
        while start < len(self.marks):
            end = start + 1
            while end < len(self.marks) and not self.texts[end]:
                end += 1
            self._settle(start, end)
            start = end
        out = [self.texts[0]]
        for mark, text in zip(self.marks, self.texts[1:], strict=True):
            out.append(_DELIMITER.get(mark, ""))
            out.append(text)
        return "".join(out)

    def _settle(self, start: int, end: int) -> None:
        """Make sure the marks from `start` to `end`, which touch each other, are read as what they are."""
        live = [index for index in range(start, end) if self.marks[index]]
        closing = [index for index in live if self.marks[index] in STARTS]
        opening = [index for index in live if self.marks[index] in ENDS]
        if closing and opening:  # `*a***b**` cannot be told apart
            self._give_up(opening)
            opening = []
        if closing and not self._closes(closing, start, end):
            self._give_up(closing)
        if opening and not (self._opens(opening, start, end) and self._closes_nothing(opening, start, end)):
            self._give_up(opening)
        elif len(opening) > 1:
            self._triple_end = max(self._triple_end, *[self.partner[index] for index in opening])

    def _opens(self, group: list[int], start: int, end: int) -> bool:
        before, inside = self.texts[start][-1:], self.texts[end]
        if self._reads(before, inside[:1], group):
            return True
        at = 0
        while at < len(inside) and _movable(inside[at]):
            at += 1
        first = inside[at : at + 1]
        if not first or not _is_word(first) or not self._reads(inside[at - 1 : at] or before, first, group):
            return False
        self.texts[start] += inside[:at]
        self.texts[end] = inside[at:]
        return True

    def _closes_nothing(self, group: list[int], start: int, end: int) -> bool:
        """What is left of `***` takes any delimiter that may close for its end, even one that is meant to open."""
        if start > self._triple_end:
            return True
        before, inside = self.texts[start][-1:], self.texts[end][:1]
        if not before or before.isspace():
            return not self._is_mixed(group) or _is_word(inside)
        return not self._is_mixed(group) and _is_word(inside) and not _is_word(before)

    def _closes(self, group: list[int], start: int, end: int) -> bool:
        after, inside = self.texts[end][:1], self.texts[start]
        if self._reads(after, inside[-1:], group):
            return True
        at = len(inside)
        while at and _movable(inside[at - 1]):
            at -= 1
        last = inside[at - 1 : at] if at else ""
        if not last or not _is_word(last) or not self._reads(inside[at : at + 1] or after, last, group):
            return False
        self.texts[start] = inside[:at]
        self.texts[end] = inside[at:] + self.texts[end]
        return True

    def _reads(self, outside: str, inside: str, group: list[int]) -> bool:
        """CommonMark's flanking rule, with the strictest reading of symbols."""
        if not inside or inside.isspace():
            return False
        return _stands_apart(outside) or (_is_word(inside) and not self._is_mixed(group))

    def _is_mixed(self, group: list[int]) -> bool:
        """Whether stars and tildes touch, so that each stands beside punctuation."""
        return len({_DELIMITER[self.marks[index]][0] for index in group}) > 1

    def _give_up(self, group: list[int]) -> None:
        for index in group:
            self.marks[index] = ""
            self.marks[self.partner[index]] = ""


def _partners(marks: list[str]) -> list[int]:
    """For each mark the index of its other half, or -1."""
    partner = [-1] * len(marks)
    opened: list[int] = []
    for index, mark in enumerate(marks):
        if mark in ENDS:
            opened.append(index)
        elif opened and marks[opened[-1]] == STARTS[mark]:
            partner[index] = opened.pop()
            partner[partner[index]] = index
    return partner
