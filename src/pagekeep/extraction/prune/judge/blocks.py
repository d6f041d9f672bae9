"""Blocks: the lines and paragraphs around the content, which the judge decides on one by one."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey


class Texts:
    """The text of each block on one line, put together when it is first read: most are never."""

    __slots__ = ("_firsts", "_known", "_texts")

    def __init__(self, texts: list[str], firsts: list[int]) -> None:
        self._texts = texts
        self._firsts = [*firsts, len(texts)]
        """The place of each block's first text; the block ends where the next one begins."""
        self._known: dict[int, str] = {}

    def __getitem__(self, index: int) -> str:
        text = self._known.get(index)
        if text is None:
            pieces = self._texts[self._firsts[index] : self._firsts[index + 1]]
            text = self._known[index] = " ".join(" ".join(pieces).split())
        return text


@dataclass(slots=True)
class Blocks:
    """Blocks in document order, as parallel lists. A block is a run of text that no other block interrupts."""

    owner: list[int]
    """Index of the innermost element around each block that is not part of a sentence."""
    start: list[int]
    """Index of the first text node."""
    stop: list[int]
    """Index after the last text node."""
    text: Texts | list[str]
    chars: list[int]
    linked: list[int]
    """Characters in links."""

    def __len__(self) -> int:
        return len(self.owner)


def collect(survey: Survey) -> Blocks:
    """Return the blocks of the page."""
    tags, parents, chars, linked, phrasing = survey.tag, survey.parent, survey.chars, survey.linked, PHRASING
    blocks = Blocks([], [], [], [], [], [])
    owners, starts, stops, counts, in_links = blocks.owner, blocks.start, blocks.stop, blocks.chars, blocks.linked
    firsts: list[int] = []
    known: dict[int, int] = {}
    current = last = -1
    for place, index in enumerate(survey.places[TEXT]):
        owner = parents[index]
        if tags[owner] in phrasing:
            inner = owner
            owner = known.get(inner, -1)
            if owner < 0:
                owner = known[inner] = _find_owner(survey, inner)
        if owner == current and (index == last + 1 or phrasing.issuperset(tags[last + 1 : index])):
            stops[-1] = index + 1
            counts[-1] += chars[index]
            in_links[-1] += linked[index]
        else:
            owners.append(owner)
            starts.append(index)
            stops.append(index + 1)
            counts.append(chars[index])
            in_links.append(linked[index])
            firsts.append(place)
            current = owner
        last = index
    blocks.text = Texts(survey.texts, firsts)
    return blocks


def _find_owner(survey: Survey, index: int) -> int:
    """Return the innermost element around an element within a sentence that is not part of one."""
    while index and survey.tag[index] in PHRASING:
        index = survey.parent[index]
    return index
