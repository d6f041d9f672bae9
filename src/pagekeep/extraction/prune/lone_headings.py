"""Find headings without a section: those whose section was removed, and those that the next heading repeats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.survey import TEXT, Survey

_VISIBLE: Final = frozenset((TEXT, "img", "svg", "iframe", "video", "audio", "math", "hr"))
_LEVELS: Final = {"h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_TITLE_LEVEL: Final = 1
"""Level of the end of a section, higher than any heading's."""
_MAX_BOXES: Final = 3
"""Boxes that are opened to find a heading alone in them, the innermost being the heading itself."""


def find(survey: Survey, root: int, excluded: Exclusions, removed: Iterable[int]) -> Reasons:
    """Find the headings right before a removed part where the next part kept is a heading of the same level, or nothing."""
    reasons: Reasons = {}
    sections = {index for index in removed if root < index < survey.end[root]}
    for parent in dict.fromkeys(survey.parent[index] for index in sections):
        heading, level, is_empty = -1, 0, False
        for child in (*_visible_children(survey, parent), -1):
            if child in sections:
                is_empty = True
                continue
            if child in excluded:
                continue
            next_level = _find_level(survey, child) if child >= 0 else _TITLE_LEVEL
            if is_empty and heading >= 0 and 0 < next_level <= level:
                reasons[heading] = Reason.HEADING_OF_CUT
            heading, level = (child, next_level) if next_level > _TITLE_LEVEL else (-1, 0)
            is_empty = False
    return reasons


def find_repeated(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find the lower of neighbouring headings with the same words."""
    reasons: Reasons = {}
    previous, following, end = -1, root + 1, survey.end[root]
    for index in survey.find_tags(*_LEVELS):
        if not following <= index < end or not _is_kept(survey, index, root, excluded):
            continue
        if (
            previous > 0
            and not _has_visible(survey, following, index, excluded)
            and _words(survey, previous) == _words(survey, index)
        ):
            reasons[index if survey.tag[previous] <= survey.tag[index] else previous] = Reason.HEADING_TWICE
        previous, following = index, survey.end[index]
    return reasons


def _is_kept(survey: Survey, index: int, root: int, excluded: Exclusions) -> bool:
    """Return whether neither an element nor one around it, within the content, is left out."""
    while index > root:
        if index in excluded:
            return False
        index = survey.parent[index]
    return True


def _has_visible(survey: Survey, first: int, end: int, excluded: Exclusions) -> bool:
    """Return whether something that is not left out shows between two places."""
    while first < end:
        if first in excluded:
            first = survey.end[first]
        elif survey.tag[first] in _VISIBLE:
            return True
        else:
            first += 1
    return False


def _words(survey: Survey, index: int) -> list[str]:
    return dom.text_of(survey.nodes[index]).lower().split()


def _visible_children(survey: Survey, parent: int) -> list[int]:
    children: list[int] = []
    child, end = parent + 1, survey.end[parent]
    while child < end:
        if survey.chars[child] or survey.tag[child] in ("img", "figure"):
            children.append(child)
        child = survey.end[child]
    return children


def _find_level(survey: Survey, index: int) -> int:
    """Return the level of a heading, by itself or alone in a box; 0 for anything else."""
    first, end = index, survey.end[index]
    for _ in range(_MAX_BOXES):
        if survey.tag[first] in _LEVELS:
            return _LEVELS[survey.tag[first]] if survey.chars[first] == survey.chars[index] else 0
        first += 1
        while first < end and survey.tag[first] == TEXT and not survey.chars[first]:
            first += 1
        if first >= end:
            return 0
    return 0
