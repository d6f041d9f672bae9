"""Keep the parts that a rule includes in place when they are inside the extracted content.

Putting back what was pruned (`include`) has to guess the position from the text around it. For a part inside the
content nothing has to be guessed: what was to be dropped around it is dropped piece by piece, except the part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.site_rules.include import Part
from pagekeep.values import dataclass

_HIDDEN_BY_CLASS: Final = ".visually-hidden, .visuallyhidden, .sr-only, .screen-reader-text, .d-none, .hidden"


@dataclass(frozen=True, slots=True)
class Kept:
    """A part inside the content."""

    part: Part
    saved: bool
    """Whether it, or something in it, would have been dropped."""


def find_in_place(survey: Survey, content: Content, parts: tuple[Part, ...]) -> tuple[Content, tuple[Kept, ...]]:
    """Return the content with all parts that are inside it, and those parts."""
    if content.made is not None:
        return content, ()
    by_node = {part.live: part for part in parts}
    excluded = dict(content.excluded)
    kept: list[Kept] = []
    for index in range(content.root + 1, survey.end[content.root]):
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and (part := by_node.get(node)):
            saved = _split_exclusions(survey, excluded, index, content.root)
            _show(survey, index, content.root)
            kept.append(Kept(part, _keep_inside(survey, excluded, index) or saved))
    return replace(content, excluded=excluded), tuple(kept)


def _show(survey: Survey, part: int, root: int) -> None:
    """Remove classes that hide the part or an element around it: cleaning would drop it."""
    index = part
    while index != root:
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and node.attr("class") and dom.matches(node, _HIDDEN_BY_CLASS):
            dom.set_attr(node, "class", None)
        index = survey.parent[index]


def _keep_inside(survey: Survey, excluded: Exclusions, part: int) -> bool:
    """Exclude nothing inside the part; return whether anything was excluded."""
    inside = [index for index in range(part + 1, survey.end[part]) if index in excluded]
    for index in inside:
        del excluded[index]
    return bool(inside)


def _split_exclusions(survey: Survey, excluded: Exclusions, part: int, root: int) -> bool:
    """Replace exclusions around the part by ones of everything beside the path to it; return whether it was excluded."""
    path = [part]
    while path[-1] != root:
        path.append(survey.parent[path[-1]])
    on_path = set(path)
    for index in reversed(path):
        exclusion = excluded.pop(index, None)
        if exclusion is None:
            continue
        if index == part:
            return True
        child = index + 1
        while child < survey.end[index]:
            if child in on_path:
                excluded.setdefault(child, exclusion)
            else:
                excluded[child] = exclusion
            child = survey.end[child]
    return False
