"""Blocks: the lines and paragraphs around the content, which the judge decides on one by one."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey


class Texts:
    """The text of each block on one line, put together when it is first read: most are never."""

    __slots__ = ("_known", "_starts", "_stops", "_survey")

    def __init__(self, survey: Survey, starts: list[int], stops: list[int]) -> None:
        self._survey, self._starts, self._stops = survey, starts, stops
        self._known: dict[int, str] = {}

    def __getitem__(self, index: int) -> str:
        text = self._known.get(index)
        if text is None:
            tags, nodes, first, stop = self._survey.tag, self._survey.nodes, self._starts[index], self._stops[index]
            text = nodes[first].data  # type: ignore[attr-defined]
            for place in range(first + 1, stop):
                if tags[place] == TEXT:
                    text += " " + nodes[place].data  # type: ignore[attr-defined]
            text = self._known[index] = " ".join(text.split())
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
    tags, parents, chars, linked = survey.tag, survey.parent, survey.chars, survey.linked
    owners: list[int] = []
    starts: list[int] = []
    stops: list[int] = []
    counts: list[int] = []
    in_links: list[int] = []
    inner = [0] * len(tags)
    """The innermost element around the text in each element that is not part of a sentence."""
    current = -1
    for index in range(1, len(tags)):
        tag = tags[index]
        if tag == TEXT:
            owner = inner[parents[index]]
            if owner == current:
                stops[-1] = index + 1
                counts[-1] += chars[index]
                in_links[-1] += linked[index]
            else:
                owners.append(owner)
                starts.append(index)
                stops.append(index + 1)
                counts.append(chars[index])
                in_links.append(linked[index])
                current = owner
        elif tag in PHRASING:
            inner[index] = inner[parents[index]]
        else:
            inner[index] = index
            current = -1
    return Blocks(owners, starts, stops, Texts(survey, starts, stops), counts, in_links)
