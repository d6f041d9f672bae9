"""Parts of a long document: its outline, a section by title or number, a part by position, and its number of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.text import count_words

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]++(.*)")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^)]*\)")
_MAX_TITLE_CHARS: Final = 1_000
"""Of a heading with its markup; finding the links in it takes quadratic time."""
_CHARS_PER_TOKEN: Final = 4
"""Of Latin text; an ideograph is about one token."""
_FIRST_IDEOGRAPH: Final = "\u2e80"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its text and subsections."""

    number: str
    """Such as `2.1`; `0` is the text before the first heading."""
    title: str
    level: int
    words: int
    """Of the section and its subsections."""
    tokens: int
    """Approximate number of tokens for a language model."""
    start: int
    end: int
    """Position in the document, with `start`."""


def body_of(document: str) -> str:
    """Return a stored document without its frontmatter."""
    if not document.startswith("---\n"):
        return document
    end = document.find("\n---\n", 3)
    return document if end < 0 else document[end + 5 :].lstrip("\n")


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens: one per four characters, or one per ideograph."""
    ideographs = sum(char >= _FIRST_IDEOGRAPH for char in text)
    return ideographs + (len(text) - ideographs + _CHARS_PER_TOKEN - 1) // _CHARS_PER_TOKEN


def outline(markdown: str) -> tuple[Section, ...]:
    """Return all sections in document order; each includes its subsections."""
    headings = _headings(markdown)
    counts: list[int] = []
    levels: list[int] = []
    sections: list[Section] = []
    first = headings[0][0] if headings else len(markdown)
    if markdown[:first].strip():
        sections.append(_section(markdown, "0", "", 0, 0, first))
    for (start, level, title), end in zip(headings, _section_ends(headings, len(markdown)), strict=True):
        while levels and levels[-1] >= level:
            levels.pop()
        depth = len(levels)
        levels.append(level)
        counts = [*counts[:depth], counts[depth] + 1 if len(counts) > depth else 1]
        sections.append(_section(markdown, ".".join(map(str, counts)), title, level, start, end))
    return tuple(sections)


def _section_ends(headings: list[tuple[int, int, str]], length: int) -> list[int]:
    """Return where each section ends: at the next heading of its level or above."""
    ends = [length] * len(headings)
    open_sections: list[int] = []
    for position, (start, level, _) in enumerate(headings):
        while open_sections and headings[open_sections[-1]][1] >= level:
            ends[open_sections.pop()] = start
        open_sections.append(position)
    return ends


def _section(markdown: str, number: str, title: str, level: int, start: int, end: int) -> Section:
    text = markdown[start:end]
    return Section(number, title, level, count_words(text), estimate_tokens(text), start, end)


def _headings(markdown: str) -> list[tuple[int, int, str]]:
    """Return position, level and title of every heading outside of code."""
    headings: list[tuple[int, int, str]] = []
    fence, position = "", 0
    for line in markdown.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and (heading := _HEADING.match(line.rstrip("\n"))):
            headings.append((position, len(heading[1]), _clean_title(heading[2])))
        position += len(line)
    return headings


def _clean_title(text: str) -> str:
    """Return a heading without closing signs and the addresses of its links."""
    title = text[:_MAX_TITLE_CHARS].rstrip(" \t")
    without_signs = title.rstrip("#")
    if without_signs.endswith((" ", "\t")):
        title = without_signs.rstrip(" \t")
    return _LINK.sub(r"\1", title).strip()


def section(markdown: str, key: str) -> str:
    """Return a section by its number, its title, or the beginning of its title; raise `NotFound` with the available ones."""
    sections = outline(markdown)
    name = key.strip().lstrip("#").strip().casefold()
    numbered = [one for one in sections if one.number == name]
    titled = [one for one in sections if one.title.casefold() == name]
    begun = [one for one in sections if name and one.title.casefold().startswith(name)]
    for one in (*numbered, *titled, *begun):
        return markdown[one.start : one.end].strip("\n") + "\n"
    names = "; ".join(f"{one.number} {one.title}".strip() for one in sections[:30])
    raise NotFound(f"Section {key[:100]!r} not found.", suggestions=(f"Available sections: {names}.",) if names else ())


def split_part(text: str, start: int, length: int) -> tuple[str, int | None]:
    """Return up to `length` characters from `start`, cut at a line or word end if one is near, and the next start."""
    if start >= len(text):
        return "", None
    end = start + length
    if end >= len(text):
        return text[start:], None
    near = max(start + length // 2, 1)
    for stop in ("\n", " "):
        cut = text.rfind(stop, near, end)
        if cut > 0:
            return text[start : cut + 1], cut + 1
    return text[start:end], end


_WIDE: Final = re.compile(r"[^\x00-\u02ff]")
_MEAN_CHARS_PER_TOKEN: Final = 4.0
"""Of Latin text; a character of another script is about one token."""
_PART_CHARS: Final = 65_536
"""Characters that are counted at a time: all found characters of a long text are 20 times as large as the text."""


def count_tokens(text: str) -> int:
    """Return the approximate number of tokens."""
    starts = range(0, len(text), _PART_CHARS)
    wide = sum(len(_WIDE.findall(text, start, start + _PART_CHARS)) for start in starts)
    return round(wide + (len(text) - wide) / _MEAN_CHARS_PER_TOKEN)


def trim_to_tokens(text: str, max_tokens: int) -> str:
    """Return as many whole lines as fit; if the first line does not fit, its beginning."""
    lines: list[str] = []
    left = float(max_tokens)
    for line in text.splitlines(keepends=True):
        cost = count_tokens(line)
        if cost > left:
            return "".join(lines) or line[: max(0, int(left))]
        lines.append(line)
        left -= cost
    return text
