"""Quotations of what stands above on the same page: in a thread, each reply repeats the post it answers."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.survey import TEXT, Survey

_WORD: Final = re.compile(r"\w+")
_QUOTES: Final = frozenset({"blockquote", "aside"})
_SAID_ABOVE: Final = 0.6
"""Share of a quotation's runs of words that must stand above; the rest is who said it, and what was left out."""

_A_POST: Final = 12
"""Runs of words from which on a quotation repeats a post; a shorter one says which point is answered."""
_REMEMBERED: Final = 200_000
"""Runs of words looked through at most, about a hundred long posts a page; what is quoted from below that is kept."""

Run = tuple[str, str, str]


def repeated(survey: Survey, root: int, dropped: Dropped) -> Dropped:
    """Long quotations whose words stand above, in document order. A quotation of another page is kept."""
    found: Dropped = {}
    tags, ends, nodes = survey.tag, survey.end, survey.nodes
    seen: set[Run] = set()
    index, end = root + 1, _last_quote(survey, root) + 1
    while index < end and len(seen) < _REMEMBERED:
        if index in dropped:
            index = ends[index]
        elif tags[index] in _QUOTES and _is_quotation(survey, index):
            runs = _runs(dom.text_of(nodes[index]))
            if len(runs) >= _A_POST and sum(map(seen.__contains__, runs)) >= _SAID_ABOVE * len(runs):
                found[index] = "quoted from above"
            seen.update(runs)
            index = ends[index]
        else:
            if tags[index] == TEXT:
                seen.update(_runs(nodes[index].data))  # type: ignore[attr-defined]
            index += 1
    return found


def _last_quote(survey: Survey, root: int) -> int:
    """Index of the last quotation: most threads have none, and nothing below it needs to be remembered."""
    index = survey.end[root] - 1
    while index > root and not (survey.tag[index] in _QUOTES and _is_quotation(survey, index)):
        index -= 1
    return index


def _is_quotation(survey: Survey, index: int) -> bool:
    return survey.tag[index] == "blockquote" or bool(survey.flags[index] & int(Sign.QUOTE))


def _runs(text: str) -> list[Run]:
    """Every three words that follow each other."""
    words = _WORD.findall(text.lower())
    return list(zip(words, words[1:], words[2:], strict=False))
