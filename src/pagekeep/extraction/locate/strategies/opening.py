"""The opening of an article that stands before its container: a lead in a block of its own, key points, a first part.

Over some hundred articles, several paragraphs between the headline and the container were part of the article; a single
one was a summary of it, and what stood behind the container was hardly ever content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.survey import Survey

PARAGRAPH: Final = 80
"""Characters from which on a block counts as a paragraph of an article."""
_WORTH: Final = 300
"""Characters in paragraphs from which on such blocks are the article's."""
_PARAGRAPHS: Final = 2
_PROSE: Final = 0.6
"""Share of a block's text that stands in paragraphs; bylines, buttons and cards have less."""


def widen(survey: Survey, root: int, mass: Sequence[int], own: Sequence[int]) -> tuple[int, Dropped]:
    """The container that holds the opening too, and what stands beside both in it; the root itself when there is none."""
    headline = next((index for index in range(root - 1, 0, -1) if survey.tag[index] == "h1"), 0)
    blocks = _blocks_between(survey, headline, root, mass) if headline else []
    held = sum(mass[block] for block in blocks)
    paragraphs = sum(own[index] >= PARAGRAPH for block in blocks for index in range(block, survey.end[block]))
    if held < _WORTH or paragraphs < _PARAGRAPHS:
        return root, {}
    wide = survey.parent[root]
    while wide >= blocks[0]:
        wide = survey.parent[wide]
    return wide, _beside(survey, root, wide, blocks[0])


def _blocks_between(survey: Survey, headline: int, root: int, mass: Sequence[int]) -> list[int]:
    """Blocks of prose behind the headline and before the root."""
    blocks: list[int] = []
    index = survey.end[headline]
    while index < root:
        if survey.end[index] > root:  # around the root
            index += 1
        else:
            if mass[index] > _PROSE * survey.chars[index]:
                blocks.append(index)
            index = survey.end[index]
    return blocks


def _beside(survey: Survey, root: int, wide: int, first: int) -> Dropped:
    """What stands in the wide container before the opening and behind the root."""
    found: Dropped = {}
    index, end = wide + 1, survey.end[wide]
    while index < end:
        if survey.end[index] <= first or index >= survey.end[root]:
            found[index] = "beside the content"
        index += (
            1 if index < first < survey.end[index] or index < root < survey.end[index] else survey.end[index] - index
        )
    return found
