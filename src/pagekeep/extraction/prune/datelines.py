"""Find lines above an article's first paragraph that are only its date and reading time, and the authors beside a date.

The frontmatter has both. On 21 of 23 pages with such a line, the people who labelled the content left it out.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.prose import INLINE, PHRASING, is_within_line
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.extraction.metadata.dates import remove_date
from pagekeep.text import compile_lazily

# Chosen on the articles of the corpus.
_MAX_HEAD_NODES: Final = 400
"""Nodes within which the first paragraph of an article begins."""
_MAX_DIARY_NODES: Final = 3_000
"""Nodes within which a diary has its second entry."""
_MAX_LINE_CHARS: Final = 100
"""Characters of the longest line of dates."""
_PARAGRAPH_CHARS: Final = 80
"""Characters outside links from which on a block is a paragraph, as in `readability`."""
_MAX_LINE_NODES: Final = 40
"""Nodes of the longest line; an element with more is not one line."""
_MAX_LINKED_CHARS: Final = 60
"""Characters in links beside a date."""
_MAX_DATES: Final = 3
"""Dates in one line: published, updated, reviewed."""
_READING_TIME: Final = compile_lazily(
    r"\d{1,3}\s?(?:-|\u2013)?\s?(?:min(?:ute)?s?\b\.?|minuten|minutos|minuti)\s?(?:to |de |di )?"
    r"(?:read(?:ing)?\b(?: time)?|lesezeit|lecture|lectura|leitura|lettura|leestijd)"
    r"|(?:read(?:ing)? time|lesezeit|temps de lecture|tiempo de lectura)\s?:?\s?(?:ca\.\s?)?\d{1,3}\s?min\w{0,4}\.?",
    re.IGNORECASE,
)
_NAME_WORDS: Final = range(2, 5)
"""Words of a name."""
_MAX_BYLINE_CHARS: Final = 150
"""Characters of the longest line of authors and their roles."""
_BOXES: Final = frozenset({"div", "header", "section", "p"})
_BYLINE: Final = compile_lazily(r"(?i:by )?[^\W\d_]+\.? [^.!?]+,[^.!?]+$|(?i:by )[^.!?,]+$")
"""Two words or more, a comma and what follows, or the word `by`; and not a sentence."""
_JOINTS: Final = frozenset("by and of the for at in on und y e et von de".split())
_WORD: Final = compile_lazily(r"\w+")
_DATE_WORDS: Final = frozenset(
    "published posted publish post updated update last modified edited reviewed created written released date on at in by am"
    " pm est edt cst cdt mst mdt pst pdt et ct pt utc gmt cet"
    " mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag veröffentlicht aktualisiert zuletzt stand vom am um uhr"
    " lundi mardi mercredi jeudi vendredi samedi dimanche publié le mis à jour"
    " lunes martes miércoles jueves viernes sábado domingo publicado el actualizado"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica pubblicato il aggiornato gepubliceerd op bijgewerkt".split()
)


def find(survey: Survey, root: int, excluded: Exclusions, own: list[int], author: str | None) -> Reasons:
    """Find the lines of dates between the beginning of the content and its first paragraph."""
    reasons: Reasons = {}
    names = frozenset(_words(author or ""))
    index, end = root + 1, min(survey.end[root], root + _MAX_HEAD_NODES)
    while index < end and own[index] < _PARAGRAPH_CHARS:
        following = survey.end[index]
        if index not in excluded and survey.tag[index] != TEXT:
            if survey.chars[index] > _MAX_LINE_CHARS or not _is_line(survey, index):
                following = index + 1
            elif _is_date_line(survey, index, names):
                reasons[index] = Reason.DATELINE
        index = following
    repeated = _find_repeated_tags(survey, index, survey.end[root], {survey.tag[line] for line in reasons}, names)
    found = {line: reason for line, reason in reasons.items() if survey.tag[line] not in repeated}
    return found | dict.fromkeys(_find_bylines(survey, found, excluded), Reason.DATELINE)


def _find_bylines(survey: Survey, datelines: Reasons, excluded: Exclusions) -> list[int]:
    """Find lines with names and roles that are alone with a date line in a box."""
    bylines: list[int] = []
    for line in datelines:
        box = survey.parent[line]
        beside = [index for index in _find_children(survey, box) if index not in datelines and index not in excluded]
        if survey.tag[box] in _BOXES and len(beside) == 1 and _is_byline(survey, beside[0]):
            bylines += beside
    return bylines


def _find_children(survey: Survey, box: int) -> list[int]:
    """Return the children of an element that show anything."""
    children: list[int] = []
    index = box + 1
    while index < survey.end[box]:
        if survey.chars[index]:
            children.append(index)
        index = survey.end[index]
    return children


def _is_byline(survey: Survey, index: int) -> bool:
    """Return whether a line has only names and roles, each with a capital letter, separated by commas."""
    if survey.tag[index] == TEXT or not _is_line(survey, index) or survey.chars[index] > _MAX_BYLINE_CHARS:
        return False
    line = " ".join("".join(survey.texts_in(index, survey.end[index])).split())
    words = _WORD.findall(line)
    names = [word for word in words if word.lower() not in _JOINTS]
    return (
        bool(_BYLINE.match(line)) and len(names) > 1 and all(word[0].isupper() or word[0].isdigit() for word in names)
    )


def _find_repeated_tags(survey: Survey, begin: int, end: int, tags: set[str], names: frozenset[str]) -> set[str]:
    """Return which of these tags have a date line again further down: then the dates are headings of a diary or changelog."""
    repeated: set[str] = set()
    for index in range(begin, min(end, begin + _MAX_DIARY_NODES)) if tags else ():
        tag = survey.tag[index]
        if tag not in tags or tag in repeated or survey.chars[index] > _MAX_LINE_CHARS or not _is_line(survey, index):
            continue
        if _is_date_line(survey, index, names):
            repeated.add(tag)
    return repeated


def _is_line(survey: Survey, index: int) -> bool:
    """Return whether the element is one line of text, without blocks."""
    size = survey.end[index] - index
    return size <= _MAX_LINE_NODES and all(tag in INLINE for tag in survey.tag[index + 1 : index + size])


def _is_date_line(survey: Survey, index: int, names: frozenset[str]) -> bool:
    node = survey.nodes[index]
    if survey.tag[index] in PHRASING and is_within_line(node):
        return False
    line = " ".join(survey.texts_in(index, survey.end[index]))
    if is_dateline(line, names):
        return True
    # Links beside a date and the author's name lead to the author's page or the subject.
    is_signed = not names.isdisjoint(_words(line)) and 0 < survey.linked[index] <= _MAX_LINKED_CHARS
    if is_signed and is_dateline(" ".join(_texts_outside_links(survey, index)), names):
        return True
    return 0 < survey.linked[index] <= _MAX_LINKED_CHARS and _is_signed_dateline(line)


def _texts_outside_links(survey: Survey, index: int) -> list[str]:
    texts: list[str] = []
    inner, end = index + 1, survey.end[index]
    while inner < end:
        if survey.tag[inner] == TEXT:
            texts.append(survey.nodes[inner].data)  # type: ignore[attr-defined]
        inner = survey.end[inner] if survey.tag[inner] == "a" else inner + 1
    return texts


def is_dateline(line: str, names: frozenset[str] = frozenset()) -> bool:
    """Return whether a line is a date or a reading time, with only words such as "updated" and the authors' names beside."""
    line = " ".join(line.split())
    left = _READING_TIME.sub(" ", line)
    for _ in range(_MAX_DATES):
        left = remove_date(left)
    return left != line and all(word in _DATE_WORDS or word in names for word in _words(left))


def _is_signed_dateline(line: str) -> bool:
    """Return whether a line with links is a date or a reading time, with nothing but a name beside."""
    left = _READING_TIME.sub(" ", " ".join(line.split()))
    has_time = left != " ".join(line.split())
    without_date = remove_date(left)
    words = [word for word in _WORD.findall(without_date) if word.lower() not in _DATE_WORDS]
    is_name = len(words) in _NAME_WORDS and all(word[0].isupper() for word in words)
    return is_name and has_time and without_date != left


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
