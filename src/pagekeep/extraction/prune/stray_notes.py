"""Footnotes that stand outside the box of the text they belong to, as some layouts put them below the article."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey

_PLACES: Final = (
    ":is(div,section,aside,ol,ul,footer):is([class*=footnotes],[id*=footnotes],[class*=endnotes],[role=doc-endnotes])"
)
_MARKS: Final = 'sup,a[href^="#"]'
_MOST: Final = 20
"""Places looked at: a page that names more of them names something else so."""


def find(survey: Survey, content: Content) -> list[dom.Element]:
    """The notes beside the content, when its text has marks that ask for some."""
    root = survey.nodes[content.root]
    if content.root == 0 or dom.first(root, _MARKS) is None or not (places := dom.select(survey.nodes[0], _PLACES)):
        return []
    first, end = content.root, survey.end[content.root]
    within = {id(node) for node in survey.nodes[first:end]}
    found: list[dom.Element] = []
    for place in places[:_MOST]:
        if id(place) not in within and not _holds(place, root) and not any(_holds(other, place) for other in found):
            found.append(place)
    return found if any(dom.text_of(place).strip() for place in found) else []


def _holds(outer: dom.Node, node: dom.Node) -> bool:
    above: dom.Node | None = node
    while above is not None and above is not outer:
        above = above.parent
    return above is outer
