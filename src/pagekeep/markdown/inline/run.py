"""A run of inline Markdown: pieces of text and marks, with the rules of emphasis."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final, TypeAlias

from pagekeep.markdown.inline.escape import (
    ATOM_END,
    ATOM_START,
    BRACKET,
    DOLLAR,
    clean,
    code_span,
    escape,
    escape_dollars,
    escape_first,
    guard,
    guard_line,
    publish,
)
from pagekeep.model.clean_tree import CleanElement, CleanNode, text_of
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass


class Sign:
    """On the stack of what remains to be written: something other than content."""

    __slots__ = ("mark",)

    def __init__(self, mark: str) -> None:
        self.mark = mark
        """Where emphasis starts or ends; empty for other signs."""


Stack: TypeAlias = list[CleanNode | Sign]
"""What remains to be written, the next item last: elements, texts and signs."""

END: Final = Sign("")
"""On the stack: the end of a block."""
CARD_END: Final = Sign("")
"""On the stack: the end of a link around blocks."""

BLOCKS: Final = frozenset(
    """address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p pre search
    section summary table tbody td tfoot th thead tr ul xmp""".split()
)
SKIPPED: Final = frozenset(
    """audio base canvas col colgroup head iframe input link map meta noembed noframes noscript object param script
    source style svg template textarea title track video wbr""".split()
)


class Run:
    """Collects inline content; with `flat`, blocks inside are written as part of the line."""

    __slots__ = ("_opened", "active", "flat", "in_link", "inline", "parts", "raw")

    def __init__(self, inline: Inline, *, flat: bool = False, in_link: bool = False) -> None:
        self.inline = inline
        self.flat = flat
        self.in_link = in_link
        self.parts: list[str] = []
        self.active = {STRONG: 0, EM: 0, STRIKE: 0}
        self._opened: list[str] = []
        self.raw: list[str] = []

    def fill(self, stack: Stack) -> CleanElement | Sign | None:
        """Process the stack until a block starts (return it), one ends (return its sign) or nothing is left (None)."""
        raw, actions = self.raw, self.inline.actions
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                raw.append(item)
            elif isinstance(item, CleanElement):
                tag = item.tag
                action = actions.get(tag)
                if action is not None:
                    if tag == "a" and self.is_card(item):
                        return item
                    action(self, item, stack)
                elif tag not in BLOCKS:
                    if tag not in SKIPPED:
                        stack.extend(item.children[::-1])
                elif self.flat:
                    self._pass_through(item, stack)
                else:
                    return item
            elif item.mark:
                self._apply_sign(item.mark)
            else:
                return item
        return None

    def is_card(self, link: CleanElement) -> bool:
        """Return whether the link contains blocks that can stay blocks here."""
        return not self.flat and link in self.inline.cards

    def _apply_sign(self, mark: str) -> None:
        if mark in ENDS:
            self.open(mark)
        else:
            self.close(STARTS[mark])

    def _pass_through(self, node: CleanElement, stack: Stack) -> None:
        """Write a block within a line: its words, separated from the others."""
        if "math-block" in node.attr("class"):
            self.math(text_of(node))
            return
        self.raw.append(" • " if node.tag == "li" else " ")
        stack.append(" ")
        stack.extend(node.children[::-1])

    def text(self, text: str) -> None:
        """Add text that is not in the tree."""
        self.raw.append(text)

    def last_char(self) -> str:
        """Return the last character written so far."""
        for piece in reversed(self.raw):
            if piece:
                return piece[-1]
        return self.parts[-1][-1:] if self.parts else ""

    def open(self, mark: str) -> None:
        """Start bold, italic or struck-through text; nested in the same it changes nothing."""
        self.active[mark] += 1
        if self.active[mark] == 1:
            if self.raw:
                self._flush()
            self.parts.append(mark)
            self._opened.append(mark)

    def close(self, mark: str) -> None:
        """End what `open` started."""
        self.active[mark] -= 1
        if self.active[mark] == 0:
            if self.raw:
                self._flush()
            self.parts.append(ENDS[mark])
            self._opened.pop()

    def atom(self, markdown: str) -> None:
        """Add finished Markdown that nothing may be moved into or out of."""
        if self.raw:
            self._flush()
        self.parts.append(f"{ATOM_START}{markdown}{ATOM_END}")

    def code(self, text: str) -> None:
        """Add a code span, with spaces at its ends outside it."""
        text = clean(text)
        words = " ".join(text.split())
        if text[:1].isspace():
            self.raw.append(" ")
        if words:
            self.atom(code_span(words))
        if text[-1:].isspace():
            self.raw.append(" ")

    def math(self, tex: str) -> None:
        """Add TeX between dollar signs."""
        tex = escape_dollars(clean(" ".join(tex.split())).strip("$ "))
        if tex:
            self.atom(f"${tex}$")

    def line_break(self) -> None:
        """Add a line break, or a space where a line cannot be broken."""
        if self.flat:
            self.raw.append(" ")
        else:
            if self.raw:
                self._flush()
            self.parts.append("\n")

    def _flush(self) -> None:
        """Escape the text collected so far, of which there is some."""
        text = self.raw[0] if len(self.raw) == 1 else "".join(self.raw)
        self.raw.clear()
        if text.isprintable() and "  " not in text:
            words = text.strip(" ")
        else:
            words = " ".join(text.split())
            if not words.isprintable():
                text = clean(text)
                words = " ".join(text.split())
        if not words:
            if text:
                self.parts.append(" ")
            return
        escaped = escape(words, in_link=self.in_link) if self.parts else escape_first(words, in_link=self.in_link)
        if text[0].isspace():
            escaped = " " + escaped
        self.parts.append(escaped + " " if text[-1].isspace() else escaped)

    def take(self) -> str:
        """Return and clear the content, with marks and outer spaces; open emphasis continues in what follows."""
        if self.raw:
            self._flush()
        parts, opened = self.parts, self._opened
        if opened:
            parts.extend([ENDS[mark] for mark in reversed(opened)])
        taken = parts[0] if len(parts) == 1 else "".join(parts)
        parts[:] = opened
        return taken

    def paragraphs(self, wrap: Callable[[str], str] | None = None) -> list[str]:
        """Return the content as finished paragraphs, separated at two line breaks, each passed through `wrap`."""
        if not self.parts and not any(map(str.strip, self.raw)):  # at most the white space between two blocks
            self.raw.clear()
            return []
        taken = self.take()
        if "\n" not in taken:
            line = one_line(taken)
            return [guard_line(publish(wrap(line) if wrap else line))] if line else []
        lines = [one_line(part) for part in _split_paragraphs(taken)]
        return [guard(publish(wrap(line) if wrap else line)) for line in lines if line]


Action: TypeAlias = Callable[[Run, CleanElement, Stack], None]


@dataclass(frozen=True, slots=True)
class Inline:
    """What all runs of a page share."""

    actions: Mapping[str, Action]
    """The action for each inline element; for others only their content is written."""
    notes: Container[str] = frozenset()
    """Labels of the footnotes that have both a reference and a text, so that `[^1]` works."""
    cards: Container[CleanElement] = frozenset()
    """Links that contain blocks."""
    bracketed: Container[CleanElement] = frozenset()
    """Ruby texts that the page puts into parentheses itself."""


def only_text(nodes: Sequence[CleanNode | Sign]) -> str | None:
    """Return the words if the nodes are a single printable text; else `None`, and a run is needed."""
    if len(nodes) != 1:
        return None
    text = nodes[0]
    if not isinstance(text, str):
        return None
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    words = " ".join(text.split())
    return words if words.isprintable() else None


_SPACES: Final = compile_lazily(r"[ \n]*\n[ \n]*")
_PARAGRAPH: Final = compile_lazily(r" *\n *\n[ \n]*")


def one_line(taken: str) -> str:
    """Resolve emphasis and collapse spaces; single line breaks stay."""
    if STRONG in taken or EM in taken or STRIKE in taken:
        taken = resolve(taken)
    while "  " in taken:
        taken = taken.replace("  ", " ")
    return _SPACES.sub("\n", taken).strip() if "\n" in taken else taken.strip()


def _split_paragraphs(taken: str) -> list[str]:
    """Split at double line breaks, unless that would split emphasis."""
    parts = _PARAGRAPH.split(taken)
    if all(part.count(mark) == part.count(end) for part in parts for mark, end in ENDS.items()):
        return parts
    return [taken]


STRONG: Final = "\x01"
STRONG_END: Final = "\x02"
EM: Final = "\x03"
EM_END: Final = "\x04"
STRIKE: Final = "\x05"
STRIKE_END: Final = "\x06"


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
