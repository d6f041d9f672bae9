"""Words to inline HTML: emphasis, code, superscripts and links, with lines joined and hyphens undone."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from typing import Final, NamedTuple

from pagekeep.capture.documents.pdf.values import Line, Word

_HYPHENS: Final = ("\u2010", "-")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_MIN_SHARE: Final = 0.012
"""Share of lines that end in a hyphen from which the document is hyphenated: then a hyphen at the end is not the word's."""


_SUSPENDED: Final = frozenset("und oder bis bzw sowie and or en of och og".split())
"""Words behind a hyphen that belongs to the word before it: "high- and low water"."""


class Style(NamedTuple):
    """The marks of a word."""

    link: str
    bold: bool
    italic: bool
    mono: bool
    raised: bool


class Joiner:
    """Joins lines to text; it knows the document's words, so that it can undo hyphens."""

    def __init__(self, lines: list[Line], url: str | None) -> None:
        self._url = url
        texts = [line.text for line in lines]
        self._known: Counter[str] = Counter()
        for text in texts:
            self._known.update(match.casefold().replace("\u2010", "-") for match in _WORD.findall(text)[:-1])
        ends = sum(text.endswith(_HYPHENS) for text in texts)
        self._is_hyphenated = ends >= 3 and ends > _MIN_SHARE * len(texts)

    def html(self, lines: list[Line], *, plain: bool = False) -> str:
        """Return the lines as inline HTML; `plain` without bold and italic, for headings and table heads."""
        parts: list[tuple[Style, str]] = []
        for number, line in enumerate(lines):
            for index, word in enumerate(line.words):
                space = "" if word.glued and index else " "
                if not index and number:
                    space = self._between(parts, word)
                parts.append((self._style(word, plain), (space if parts else "") + word.text))
        return _write([(style, text.replace("\u2010", "-")) for style, text in parts])

    def _between(self, parts: list[tuple[Style, str]], word: Word) -> str:
        """Return what comes between two lines, and undo a hyphen at the end of the first."""
        style, text = parts[-1]
        if text.endswith(_HYPHENS) and len(text.strip()) > 1:
            if word.text.rstrip(".,") in _SUSPENDED and text[-2].isalpha():
                parts[-1] = (style, f"{text[:-1]}-")
                return " "
            parts[-1] = (style, text[:-1] + ("-" if self._keeps_hyphen(text, word.text) else ""))
            return ""
        return "" if _is_wide(text[-1:]) and _is_wide(word.text[:1]) else " "

    def _keeps_hyphen(self, text: str, following: str) -> bool:
        head, tail = _WORD.findall(text[:-1])[-1:], _WORD.match(following)
        if not head or not tail:
            return True
        joined, parted = (head[0] + tail[0]).casefold(), f"{head[0]}-{tail[0]}".casefold()
        if self._known[joined] != self._known[parted]:
            return self._known[parted] > self._known[joined]
        return not self._is_hyphenated or not following[:1].islower()

    def _style(self, word: Word, plain: bool) -> Style:
        font = word.font
        return Style(self._link(word.link), font.bold and not plain, font.italic and not plain, font.mono, word.raised)

    def _link(self, link: str) -> str:
        if not link.startswith("#"):
            return link
        return f"{self._url.partition('#')[0]}{link}" if self._url else ""


def _is_wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\uff00" <= char <= "\uffef"


def _write(parts: list[tuple[Style, str]]) -> str:
    """Return the parts with each mark opened and closed once for neighbours that share it."""
    out: list[str] = []
    index = 0
    while index < len(parts):
        link, end = parts[index][0].link, index + 1
        while end < len(parts) and parts[end][0].link == link:
            end += 1
        out.append(_wrap(parts[index:end], link))
        index = end
    return "".join(out)


_MARKS: Final = (("mono", "<code>", "</code>"), ("bold", "<strong>", "</strong>"), ("italic", "<em>", "</em>"))


def _wrap(parts: list[tuple[Style, str]], link: str) -> str:
    if not link:
        return _write_marks(parts, 0)
    style, first = parts[0]
    inner = _write_marks([(style, first.removeprefix(" ")), *parts[1:]], 0)
    return f'{" " if first.startswith(" ") else ""}<a href="{escape(link)}">{inner}</a>'


def _write_marks(parts: list[tuple[Style, str]], depth: int) -> str:
    if depth == len(_MARKS):
        return "".join(_raise(style, text) for style, text in parts)
    field, opening, closing = _MARKS[depth]
    out: list[str] = []
    index = 0
    while index < len(parts):
        marked = getattr(parts[index][0], field)
        end = index + 1
        while end < len(parts) and getattr(parts[end][0], field) == marked:
            end += 1
        inner = _write_marks(parts[index:end], depth + 1)
        if marked:
            space = " " if inner.startswith(" ") else ""
            inner = f"{space}{opening}{inner[len(space) :]}{closing}"
        out.append(inner)
        index = end
    return "".join(out)


def _raise(style: Style, text: str) -> str:
    if not style.raised:
        return escape(text, quote=False)
    stripped = text.lstrip(" ")
    return f"{' ' * (len(text) - len(stripped))}<sup>{escape(stripped, quote=False)}</sup>"
