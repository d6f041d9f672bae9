"""A long document in parts: its outline, a section by name or number, a piece from somewhere on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.text import count_words

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CHARS_A_TOKEN: Final = 4
_IDEOGRAPHS: Final = "\u2e80"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with everything down to the next one that is not below it."""

    number: str
    """Such as `2.1`; `0` is what stands before the first heading."""
    title: str
    level: int
    words: int
    """Of the section and all below it."""
    tokens: int
    """About how many a language model counts."""
    start: int
    end: int
    """Where it stands in the document."""


def body_of(document: str) -> str:
    """A stored document without its frontmatter."""
    if not document.startswith("---\n"):
        return document
    end = document.find("\n---\n", 3)
    return document if end < 0 else document[end + 5 :].lstrip("\n")


def tokens_of(text: str) -> int:
    """About how many tokens a language model counts: four letters each, or one ideograph."""
    ideographs = sum(char >= _IDEOGRAPHS for char in text)
    return ideographs + (len(text) - ideographs + _CHARS_A_TOKEN - 1) // _CHARS_A_TOKEN


def outline(markdown: str) -> tuple[Section, ...]:
    """All sections in their order, each holding those below it."""
    found = _headings(markdown)
    counts: list[int] = []
    levels: list[int] = []
    sections: list[Section] = []
    first = found[0][0] if found else len(markdown)
    if markdown[:first].strip():
        sections.append(_section(markdown, "0", "", 0, 0, first))
    for position, (start, level, title) in enumerate(found):
        while levels and levels[-1] >= level:
            levels.pop()
        depth = len(levels)
        levels.append(level)
        counts = [*counts[:depth], counts[depth] + 1 if len(counts) > depth else 1]
        end = next((later for later, other, _ in found[position + 1 :] if other <= level), len(markdown))
        sections.append(_section(markdown, ".".join(map(str, counts)), title, level, start, end))
    return tuple(sections)


def _section(markdown: str, number: str, title: str, level: int, start: int, end: int) -> Section:
    text = markdown[start:end]
    return Section(number, title, level, count_words(text), tokens_of(text), start, end)


def _headings(markdown: str) -> list[tuple[int, int, str]]:
    """Position, level and title of every heading outside of code."""
    found: list[tuple[int, int, str]] = []
    fence, position = "", 0
    for line in markdown.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and (heading := _HEADING.match(line.rstrip("\n"))):
            found.append((position, len(heading[1]), _LINK.sub(r"\1", heading[2]).strip()))
        position += len(line)
    return found


def section(markdown: str, wanted: str) -> str:
    """The section by its number, its title, or the beginning of its title; `NotFound` names those there are."""
    sections = outline(markdown)
    asked = wanted.strip().lstrip("#").strip().casefold()
    numbered = [one for one in sections if one.number == asked]
    titled = [one for one in sections if one.title.casefold() == asked]
    begun = [one for one in sections if asked and one.title.casefold().startswith(asked)]
    for one in (*numbered, *titled, *begun):
        return markdown[one.start : one.end].strip("\n") + "\n"
    names = "; ".join(f"{one.number} {one.title}".strip() for one in sections[:30])
    raise NotFound(f"There is no section {wanted[:100]!r}.", suggestions=(f"Sections: {names}.",) if names else ())


def piece(text: str, start: int, length: int) -> tuple[str, int | None]:
    """So many characters from there on, ended at a line or a word where one ends near, and where the next piece begins."""
    if start >= len(text):
        return "", None
    end = start + length
    if end >= len(text):
        return text[start:], None
    near = max(start + length // 2, 1)
    for stop in ("\n", " "):
        found = text.rfind(stop, near, end)
        if found > 0:
            return text[start : found + 1], found + 1
    return text[start:end], end
