"""Where the page's sentences are: text measured by block, because a sentence is often split over inline elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.survey import TEXT, Survey

PHRASING: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span"
    " strike strong sub sup time tt u var wbr br".split()
)
"""Elements that stand within a sentence."""


def is_within_line(node: dom.Node) -> bool:
    """Whether words, or an element among them, stand right beside the node."""
    return _is_words(_beside(node, forward=False)) or _is_words(_beside(node, forward=True))


def _beside(node: dom.Node, *, forward: bool) -> dom.Node | None:
    """The nearest sibling that shows something."""
    beside = node.next_sibling if forward else node.previous_sibling
    while beside is not None and not isinstance(beside, dom.Element):
        if isinstance(beside, dom.Text) and not beside.data.isspace():
            break
        beside = beside.next_sibling if forward else beside.previous_sibling
    return beside


def _is_words(node: dom.Node | None) -> bool:
    return isinstance(node, dom.Text) or (isinstance(node, dom.Element) and node.tag in PHRASING and node.tag != "br")


def own_text(found: Survey, *, links: bool = False) -> list[int]:
    """Characters that stand in each block itself, not in a block within it; outside links, unless those count too."""
    tags, parents, linked, chars = found.tag, found.parent, found.linked, found.chars
    own = [0] * len(tags)
    block = [0] * len(tags)
    for index in range(1, len(tags)):
        tag = tags[index]
        if tag == TEXT:
            if links or not linked[index]:
                own[block[parents[index]]] += chars[index]
        else:
            block[index] = block[parents[index]] if tag in PHRASING else index
    return own


def sum_blocks(found: Survey, own: Sequence[int], at_least: int, dead: bytearray | None = None) -> list[int]:
    """For each subtree, the text of its blocks that hold at least so many characters and are not dead."""
    parents = found.parent
    total = [0] * len(own)
    for index in range(len(own) - 1, 0, -1):
        if own[index] >= at_least and not (dead and dead[index]):
            total[index] += own[index]
        if total[index]:
            total[parents[index]] += total[index]
    if own[0] >= at_least:
        total[0] += own[0]
    return total


def deepest(found: Survey, mass: Sequence[int], share: float) -> int:
    """The innermost element that still holds `share` of the page's mass."""
    tags, ends = found.tag, found.end
    root, wanted = 0, share * mass[0]
    while True:
        child, end = root + 1, ends[root]
        while child < end and (mass[child] < wanted or tags[child] == TEXT or not mass[child]):
            child = ends[child]
        if child >= end:
            return root
        root = child
