"""Write emphasis that renders: delimiters touch their text and are where CommonMark lets them open and close.

`resolve` takes a line in which bold, italic and struck-through text is between marks (control characters) and turns the marks
into `**`, `*` and `~~`. Where CommonMark would not see a delimiter, as in `**bold:**text`, punctuation is moved out of
the emphasis (`**bold**:text`); where that does not help, the emphasis is dropped and the words stay.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from pagekeep.markdown.inline.escape import ATOM_END, ATOM_START, BRACKET, DOLLAR
from pagekeep.text import compile_lazily

STRONG: Final = "\x01"
STRONG_END: Final = "\x02"
EM: Final = "\x03"
EM_END: Final = "\x04"
STRIKE: Final = "\x05"
STRIKE_END: Final = "\x06"


class Sign:
    """On the stack of what remains to be written: something other than content."""

    __slots__ = ("mark",)

    def __init__(self, mark: str) -> None:
        self.mark = mark
        """Where emphasis starts or ends; empty for other signs."""


SIGNS: Final = {mark: Sign(mark) for mark in (STRONG, STRONG_END, EM, EM_END, STRIKE, STRIKE_END)}

ENDS: Final = {STRONG: STRONG_END, EM: EM_END, STRIKE: STRIKE_END}
STARTS: Final = {end: start for start, end in ENDS.items()}
_DELIMITER: Final = {
    STRONG: "**", STRONG_END: "**", EM: "*", EM_END: "*", STRIKE: "~~", STRIKE_END: "~~"
}  # fmt: skip

_MARKS: Final = compile_lazily("([\x01-\x06])")
_SPACE_INSIDE_START: Final = compile_lazily(r"([\x01\x03\x05]+)(\s+)")
_SPACE_INSIDE_END: Final = compile_lazily(r"(\s+)([\x02\x04\x06]+)")
_EMPTY: Final = compile_lazily("\x01\x02|\x03\x04|\x05\x06|\x02\x01|\x04\x03|\x06\x05")
_LOOSE: Final = compile_lazily(r"[\x01\x03\x05]\s|\s[\x02\x04\x06]|" + _EMPTY.pattern)
_MAX_PASSES: Final = 12
"""Bounds hostile nesting of marks; real lines need one or two passes."""
_MOVABLE_ASCII: Final = frozenset("\"'(),.:;?!-/ ")
_FIXED: Final = frozenset((ATOM_START, ATOM_END, DOLLAR, BRACKET))


def resolve(line: str) -> str:
    """Return the line with its marks turned into delimiters."""
    pieces = _MARKS.split(line)
    if not _are_separate(pieces[0::2], pieces[1::2]):
        pieces = _MARKS.split(_tighten(line))
        if not _are_separate(pieces[0::2], pieces[1::2]):
            return _Delimiters(pieces[0::2], pieces[1::2]).write()
    return "".join([_DELIMITER.get(piece, piece) for piece in pieces])


def _are_separate(texts: list[str], marks: list[str]) -> bool:
    """Return whether each emphasis is of whole words and touches no other, as nearly always: then all delimiters work."""
    if len(marks) % 2 or not all(texts[1:-1]):
        return False
    return all(
        ENDS.get(marks[at]) == marks[at + 1]
        and not texts[at + 1][0].isspace()
        and not texts[at + 1][-1].isspace()
        and _is_boundary(texts[at][-1:])
        and _is_boundary(texts[at + 2][:1])
        for at in range(0, len(marks), 2)
    )


def _tighten(line: str) -> str:
    """Move spaces out of emphasis, drop empty emphasis, join adjacent emphasis of the same type."""
    for _ in range(_MAX_PASSES):
        if not _LOOSE.search(line):
            break
        line = _SPACE_INSIDE_START.sub(r"\2\1", line)
        line = _SPACE_INSIDE_END.sub(r"\2\1", line)
        line = _EMPTY.sub("", line)
    return line


def _is_word(char: str) -> bool:
    """Return whether no renderer treats the character as space or punctuation (some do with symbols)."""
    if char in _FIXED or char.isspace():
        return False
    return char.isalnum() or unicodedata.category(char)[0] not in "PS"


def _is_boundary(char: str) -> bool:
    """Return whether every renderer treats the character as space, punctuation or the line's end."""
    if not char or char.isspace():
        return True
    return not char.isalnum() if char.isascii() else unicodedata.category(char)[0] == "P"


def _movable(char: str) -> bool:
    return char in _MOVABLE_ASCII or (not char.isascii() and unicodedata.category(char)[0] == "P")


class _Delimiters:
    """`texts[i]` is before `marks[i]`; the last text is after all marks."""

    def __init__(self, texts: list[str], marks: list[str]) -> None:
        self.texts = texts
        self.marks = marks
        self.partner = _partners(marks)
        self._triple_end = -1
        """Where the last emphasis ends that started as `***`."""
        for index, partner in enumerate(self.partner):
            if partner < 0:
                self.marks[index] = ""

    def write(self) -> str:
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
        """Make sure that the adjacent marks from `start` to `end` work, or drop them."""
        live = [index for index in range(start, end) if self.marks[index]]
        closing = [index for index in live if self.marks[index] in STARTS]
        opening = [index for index in live if self.marks[index] in ENDS]
        if closing and opening:  # `*a***b**` is ambiguous
            self._drop(opening)
            opening = []
        if closing and not self._closes(closing, start, end):
            self._drop(closing)
        if opening and not (self._opens(opening, start, end) and self._closes_nothing(opening, start, end)):
            self._drop(opening)
        elif len(opening) > 1:
            self._triple_end = max(self._triple_end, *[self.partner[index] for index in opening])

    def _opens(self, group: list[int], start: int, end: int) -> bool:
        before, inside = self.texts[start][-1:], self.texts[end]
        if self._is_flanking(before, inside[:1], group):
            return True
        at = 0
        while at < len(inside) and _movable(inside[at]):
            at += 1
        first = inside[at : at + 1]
        if not first or not _is_word(first) or not self._is_flanking(inside[at - 1 : at] or before, first, group):
            return False
        self.texts[start] += inside[:at]
        self.texts[end] = inside[at:]
        return True

    def _closes_nothing(self, group: list[int], start: int, end: int) -> bool:
        """Return whether an open `***` would not take these opening marks as its end."""
        if start > self._triple_end:
            return True
        before, inside = self.texts[start][-1:], self.texts[end][:1]
        if not before or before.isspace():
            return not self._is_mixed(group) or _is_word(inside)
        return not self._is_mixed(group) and _is_word(inside) and not _is_word(before)

    def _closes(self, group: list[int], start: int, end: int) -> bool:
        after, inside = self.texts[end][:1], self.texts[start]
        if self._is_flanking(after, inside[-1:], group):
            return True
        at = len(inside)
        while at and _movable(inside[at - 1]):
            at -= 1
        last = inside[at - 1 : at] if at else ""
        if not last or not _is_word(last) or not self._is_flanking(inside[at : at + 1] or after, last, group):
            return False
        self.texts[start] = inside[:at]
        self.texts[end] = inside[at:] + self.texts[end]
        return True

    def _is_flanking(self, outside: str, inside: str, group: list[int]) -> bool:
        """Apply CommonMark's flanking rule, in the strictest reading of symbols."""
        if not inside or inside.isspace():
            return False
        return _is_boundary(outside) or (_is_word(inside) and not self._is_mixed(group))

    def _is_mixed(self, group: list[int]) -> bool:
        """Return whether stars and tildes are adjacent, so that each is next to punctuation."""
        return len({_DELIMITER[self.marks[index]][0] for index in group}) > 1

    def _drop(self, group: list[int]) -> None:
        for index in group:
            self.marks[index] = ""
            self.marks[self.partner[index]] = ""


def _partners(marks: list[str]) -> list[int]:
    """Return for each mark the index of its partner, or -1."""
    partner = [-1] * len(marks)
    opened: list[int] = []
    for index, mark in enumerate(marks):
        if mark in ENDS:
            opened.append(index)
        elif opened and marks[opened[-1]] == STARTS[mark]:
            partner[index] = opened.pop()
            partner[partner[index]] = index
    return partner
