"""Measure text by block, because a sentence is often split over inline elements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.survey import TEXT, Survey

PHRASING: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span"
    " strike strong sub sup time tt u var wbr br".split()
)
"""Elements that are part of a sentence."""
INLINE: Final = PHRASING | {TEXT}


def is_within_line(node: dom.Node) -> bool:
    """Return whether words, or an element among them, are right beside the node."""
    return _is_words(_sibling(node, forward=False)) or _is_words(_sibling(node, forward=True))


def _sibling(node: dom.Node, *, forward: bool) -> dom.Node | None:
    """Return the nearest sibling that shows something."""
    beside = node.next_sibling if forward else node.previous_sibling
    while beside is not None and not isinstance(beside, dom.Element):
        if isinstance(beside, dom.Text) and not beside.data.isspace():
            break
        beside = beside.next_sibling if forward else beside.previous_sibling
    return beside


def _is_words(node: dom.Node | None) -> bool:
    return isinstance(node, dom.Text) or (isinstance(node, dom.Element) and node.tag in PHRASING and node.tag != "br")


def measure_own_text(survey: Survey, *, links: bool = False) -> list[int]:
    """Count the characters in each block itself, not in a block within it; those in links only when `links` is set."""
    tags, parents, linked, chars = survey.tag, survey.parent, survey.linked, survey.chars
    own = [0] * len(tags)
    blocks: dict[int, int] = {}
    for index in survey.places[TEXT]:
        if links or not linked[index]:
            block = parents[index]
            if tags[block] in PHRASING:
                above = parents[block]
                block = (
                    above if tags[above] not in PHRASING else blocks.get(block) or _find_block(survey, block, blocks)
                )
            own[block] += chars[index]
    return own


def _find_block(survey: Survey, index: int, blocks: dict[int, int]) -> int:
    """Find the block around an element within a sentence; `blocks` are those already found, so that none is passed twice."""
    passed: list[int] = []
    while index and survey.tag[index] in PHRASING and index not in blocks:
        passed.append(index)
        index = survey.parent[index]
    block = blocks.get(index, index)
    blocks.update(dict.fromkeys(passed, block))
    return block


def has_no_block(survey: Survey, index: int) -> bool:
    """Return whether an element has only text and inline elements in it."""
    tags = survey.tag
    inner, end = index + 1, survey.end[index]
    while inner < end and tags[inner] in INLINE:
        inner += 1
    return inner == end


def find_blocks(own: Sequence[int], min_chars: int) -> list[int]:
    """Return the indices of the blocks with at least `min_chars` characters, a positive number; most nodes have none."""
    return [index for index in compress(range(len(own)), own) if own[index] >= min_chars]


def sum_blocks(survey: Survey, own: Sequence[int], min_chars: int, dead: bytearray | None = None) -> list[int]:
    """Sum up, for each subtree, the text of its blocks that have at least `min_chars` characters and are not dead."""
    parents = survey.parent
    total = [0] * len(own)
    for index in find_blocks(own, min_chars):
        if not (dead and dead[index]):
            total[index] = own[index]
    for index in range(len(total) - 1, 0, -1):
        if total[index]:
            total[parents[index]] += total[index]
    return total


def find_innermost(survey: Survey, mass: Sequence[int], share: float) -> int:
    """Find the innermost element that still has `share` of the page's mass."""
    tags, ends = survey.tag, survey.end
    root, min_mass = 0, share * mass[0]
    while True:
        child, end = root + 1, ends[root]
        while child < end and (mass[child] < min_mass or tags[child] == TEXT or not mass[child]):
            child = ends[child]
        if child >= end:
            return root
        root = child
