"""Headings that announce nothing: those whose section was cut, and those that the next heading says again."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.survey import TEXT, Survey

_SHOWN: Final = frozenset((TEXT, "img", "svg", "iframe", "video", "audio", "math", "hr"))
_LEVELS: Final = {"h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


def find(survey: Survey, root: int, dropped: Dropped, cut: Dropped) -> Dropped:
    """The headings right before what was cut, where the next thing kept is a heading of the same rank, or nothing."""
    found: Dropped = {}
    for parent in dict.fromkeys(survey.parent[index] for index in cut if root < index < survey.end[root]):
        heading, rank, lost = -1, 0, False
        for child in (*_shown_children(survey, parent), -1):
            if child in cut:
                lost = True
                continue
            if child in dropped:
                continue
            next_rank = _rank(survey, child) if child >= 0 else 1
            if lost and heading >= 0 and 0 < next_rank <= rank:
                found[heading] = "heading of what was cut"
            heading, rank, lost = (child, next_rank, False) if next_rank > 1 else (-1, 0, False)
    return found


def repeated(survey: Survey, root: int, dropped: Dropped) -> Dropped:
    """Of neighbouring headings that say the same, the one of the lower rank."""
    found: Dropped = {}
    before, said = -1, False
    index, end = root + 1, survey.end[root]
    while index < end:
        tag = survey.tag[index]
        if index in dropped:
            index = survey.end[index]
            continue
        if tag in _LEVELS:
            if before > 0 and not said and _words(survey, before) == _words(survey, index):
                found[index if survey.tag[before] <= tag else before] = "heading said twice"
            before, said, index = index, False, survey.end[index]
            continue
        said = said or tag in _SHOWN
        index += 1
    return found


def _words(survey: Survey, index: int) -> list[str]:
    return dom.text_of(survey.nodes[index]).lower().split()


def _shown_children(survey: Survey, parent: int) -> list[int]:
    children: list[int] = []
    child, end = parent + 1, survey.end[parent]
    while child < end:
        if survey.chars[child] or survey.tag[child] in ("img", "figure"):
            children.append(child)
        child = survey.end[child]
    return children


def _rank(survey: Survey, index: int) -> int:
    """The level of a heading, alone or in a box of its own; 0 for anything else."""
    first, end = index, survey.end[index]
    for _ in range(3):
        if survey.tag[first] in _LEVELS:
            return _LEVELS[survey.tag[first]] if survey.chars[first] == survey.chars[index] else 0
        first += 1
        while first < end and survey.tag[first] == TEXT and not survey.chars[first]:
            first += 1
        if first >= end:
            return 0
    return 0
