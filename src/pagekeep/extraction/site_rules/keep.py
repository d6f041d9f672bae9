"""Parts that a rule wants and the extractor found its content around: they stay where they stand.

Putting back what was cut (`include`) has to guess a place from what is around it. Where the part stands inside the content
nothing needs to be guessed: what was to be dropped around it is dropped piece by piece, and the part left out of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.site_rules.include import Part

_HIDDEN_BY_CLASS: Final = ".visually-hidden, .visuallyhidden, .sr-only, .screen-reader-text, .d-none, .hidden"


@dataclass(frozen=True, slots=True)
class Kept:
    """A part that stands in the content."""

    part: Part
    saved: bool
    """Whether it, or something in it, would have been dropped."""


def in_place(survey: Survey, content: Content, parts: tuple[Part, ...]) -> tuple[Content, tuple[Kept, ...]]:
    """The content with all parts that stand in it, and those parts."""
    if content.made is not None:
        return content, ()
    wanted = {part.live: part for part in parts}
    excluded = dict(content.excluded)
    kept: list[Kept] = []
    for index in range(content.root + 1, survey.end[content.root]):
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and (part := wanted.get(node)):
            saved = _open(survey, excluded, index, content.root)
            _show(survey, index, content.root)
            kept.append(Kept(part, _spare(survey, excluded, index) or saved))
    return replace(content, excluded=excluded), tuple(kept)


def _show(survey: Survey, part: int, root: int) -> None:
    """Neither the part nor anything around it is hidden by its class any more: the clean-up would drop that."""
    index = part
    while index != root:
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and node.attr("class") and dom.matches(node, _HIDDEN_BY_CLASS):
            dom.set_attr(node, "class", None)
        index = survey.parent[index]


def _spare(survey: Survey, excluded: Exclusions, part: int) -> bool:
    """Drop nothing in the part; whether anything was to be."""
    inside = [index for index in range(part + 1, survey.end[part]) if index in excluded]
    for index in inside:
        del excluded[index]
    return bool(inside)


def _open(survey: Survey, excluded: Exclusions, part: int, root: int) -> bool:
    """Drop everything in what was dropped around the part, except the way down to it; whether anything was."""
    way = [part]
    while way[-1] != root:
        way.append(survey.parent[way[-1]])
    on_the_way = set(way)
    for index in reversed(way):
        exclusion = excluded.pop(index, None)
        if exclusion is None:
            continue
        if index == part:
            return True
        child = index + 1
        while child < survey.end[index]:
            if child in on_the_way:
                excluded.setdefault(child, exclusion)
            else:
                excluded[child] = exclusion
            child = survey.end[child]
    return False
