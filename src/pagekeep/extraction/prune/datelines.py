"""Lines above an article's first paragraph that only tell when it was written and how long it takes to read.

The frontmatter says both. On 21 of 23 pages with such a line, people who marked the content left it out.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.prose import PHRASING, is_within_line
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.extraction.metadata.dates import without_date

_NODES: Final = 400
"""Nodes within which an article has begun."""
_LATER: Final = 3_000
"""Nodes within which a diary has its second entry."""
_LONGEST: Final = 100
_PARAGRAPH: Final = 80
_PARTS: Final = 40
"""More nodes than this are no line."""
_MOST_DATES: Final = 3
_INLINE: Final = PHRASING | {TEXT}
_READING_TIME: Final = re.compile(
    r"\d{1,3}\s?(?:-|\u2013)?\s?(?:min(?:ute)?s?\b\.?|minuten|minutos|minuti)\s?(?:to |de |di )?"
    r"(?:read(?:ing)?\b(?: time)?|lesezeit|lecture|lectura|leitura|lettura|leestijd)"
    r"|(?:read(?:ing)? time|lesezeit|temps de lecture|tiempo de lectura)\s?:?\s?(?:ca\.\s?)?\d{1,3}\s?min\w{0,4}\.?",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")
_SAID_OF_DAYS: Final = frozenset(
    "published posted publish post updated update last modified edited reviewed created written released date on at in by am"
    " pm est edt cst cdt mst mdt pst pdt et ct pt utc gmt cet"
    " mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag veröffentlicht aktualisiert zuletzt stand vom am um uhr"
    " lundi mardi mercredi jeudi vendredi samedi dimanche publié le mis à jour"
    " lunes martes miércoles jueves viernes sábado domingo publicado el actualizado"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica pubblicato il aggiornato gepubliceerd op bijgewerkt".split()
)


def find(survey: Survey, root: int, dropped: Dropped, own: list[int], author: str | None) -> Dropped:
    """The lines of dates between the beginning of the content and its first paragraph."""
    found: Dropped = {}
    names = frozenset(_words(author or ""))
    index, end = root + 1, min(survey.end[root], root + _NODES)
    while index < end and own[index] < _PARAGRAPH:
        following = survey.end[index]
        if index not in dropped and survey.tag[index] != TEXT:
            if survey.chars[index] > _LONGEST or not _is_line(survey, index):
                following = index + 1
            elif _tells_a_date(survey, index, names):
                found[index] = "date line"
        index = following
    again = _tags_of_later(survey, index, survey.end[root], {survey.tag[line] for line in found}, names)
    return {line: reason for line, reason in found.items() if survey.tag[line] not in again}


def _tags_of_later(survey: Survey, begin: int, end: int, tags: set[str], names: frozenset[str]) -> set[str]:
    """Which of these elements tell a date again further down: then the dates are headings of a diary or a list of changes."""
    again: set[str] = set()
    for index in range(begin, min(end, begin + _LATER)) if tags else ():
        tag = survey.tag[index]
        if tag not in tags or tag in again or survey.chars[index] > _LONGEST or not _is_line(survey, index):
            continue
        if _tells_a_date(survey, index, names):
            again.add(tag)
    return again


def _is_line(survey: Survey, index: int) -> bool:
    """Whether the element holds one line of text and no blocks."""
    size = survey.end[index] - index
    return size <= _PARTS and all(tag in _INLINE for tag in survey.tag[index + 1 : index + size])


def _tells_a_date(survey: Survey, index: int, names: frozenset[str]) -> bool:
    node = survey.nodes[index]
    if survey.tag[index] in PHRASING and is_within_line(node):
        return False
    return is_dateline(" ".join(_texts(survey, index)), names)


def _texts(survey: Survey, index: int) -> list[str]:
    inside = range(index + 1, survey.end[index])
    return [survey.nodes[inner].data for inner in inside if survey.tag[inner] == TEXT]  # type: ignore[attr-defined]


def is_dateline(line: str, names: frozenset[str] = frozenset()) -> bool:
    """Whether a line is a day or a reading time, and what is said with them, and the names of the authors."""
    line = " ".join(line.split())
    left = _READING_TIME.sub(" ", line)
    for _ in range(_MOST_DATES):
        left = without_date(left)
    return left != line and all(word in _SAID_OF_DAYS or word in names for word in _words(left))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
