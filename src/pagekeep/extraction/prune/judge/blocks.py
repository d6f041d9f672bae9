"""Blocks: the lines and paragraphs around the content, which the judge decides on one by one."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey


@dataclass(slots=True)
class Blocks:
    """Blocks in document order, as parallel lists. A block is a run of text that no other block interrupts."""

    owner: list[int]
    """Index of the innermost element around each block that is not part of a sentence."""
    start: list[int]
    """Index of the first text node."""
    stop: list[int]
    """Index after the last text node."""
    text: list[str]
    chars: list[int]
    linked: list[int]
    """Characters in links."""

    def __len__(self) -> int:
        return len(self.owner)


def collect(survey: Survey, first: int, end: int) -> Blocks:
    """Return the blocks among the nodes from `first` up to `end`, which are those of one or more elements."""
    tags, parents, nodes, chars, linked = survey.tag, survey.parent, survey.nodes, survey.chars, survey.linked
    owners: list[int] = []
    starts: list[int] = []
    stops: list[int] = []
    pieces: list[list[str]] = []
    counts: list[int] = []
    in_links: list[int] = []
    owner_of: dict[int, int] = {}
    current, goes_on = -1, False
    for index in range(first, end):
        tag = tags[index]
        parent = parents[index]
        if tag != TEXT:
            if tag in PHRASING:
                owner_of[index] = owner_of.get(parent, parent)
            else:
                goes_on = False
            continue
        owner = owner_of.get(parent, parent)
        data: str = nodes[index].data  # type: ignore[attr-defined]
        if goes_on and owner == current:
            stops[-1] = index + 1
            pieces[-1].append(data)
            counts[-1] += chars[index]
            in_links[-1] += linked[index]
        else:
            owners.append(owner)
            starts.append(index)
            stops.append(index + 1)
            pieces.append([data])
            counts.append(chars[index])
            in_links.append(linked[index])
            current, goes_on = owner, True
    texts = [" ".join(" ".join(parts).split()) for parts in pieces]
    return Blocks(owners, starts, stops, texts, counts, in_links)
