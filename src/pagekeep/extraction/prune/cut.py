"""Cut the content out of the tree: the only place in this phase where the page itself is changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import boilerplate
from pagekeep.extraction.locate.exclusions import LOCATE_STEP, Exclusion, Exclusions, Reason
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import OPAQUE_LISTED, Survey
from pagekeep.extraction.steps import element_name
from pagekeep.model import Doubt, Removal

_MAX_REMOVALS: Final = 200
"""Removals that are reported one by one, those with the most words first; the others are summed up by reason and step."""

_OUTSIDE: Final = Exclusion(Reason.OUTSIDE_CONTENT, LOCATE_STEP)
_FOLDED: Final = f'{boilerplate.HIDDEN}, button, [role="button"]'

_MAX_CODE_LEVELS: Final = 10
"""Boxes around a button or hidden part that are searched for code."""

# Roots that are themselves part of what they contain; others only contain it and are left out.
_WHOLE: Final = frozenset("p li table ul ol dl blockquote pre figure h1 h2 h3 h4 h5 h6".split())

_FOOTNOTES: Final = (
    ":is(div,section,aside,ol,ul,footer):is([class*=footnotes],[id*=footnotes],[class*=endnotes],[role=doc-endnotes])"
)
_FOOTNOTE_MARKS: Final = 'sup,a[href^="#"]'
_MAX_FOOTNOTE_BOXES: Final = 20
"""Boxes of footnotes that are looked at: a page with more uses the name for something else."""


def cut(survey: Survey, content: Content) -> dom.Element:
    """Return the content as a detached `div`, and remove the excluded parts from the tree."""
    if content.made is not None:
        return content.made
    first, end = content.root, survey.end[content.root]
    notes = _find_footnotes(survey, content)
    for index in content.excluded:
        if first < index < end:
            dom.drop(survey.nodes[index])
    root = survey.nodes[content.root]
    holder = dom.element("div")
    dom.append(holder, *([root] if survey.tag[content.root] in _WHOLE else root.children), *notes)
    unfold(holder)
    return holder


def unfold(holder: dom.Element) -> None:
    """Make what was kept though hidden or a button plain, so that no later step removes it."""
    for node in dom.select(holder, _FOLDED):
        if _is_in_code(node):
            continue
        if node.tag == "button":
            dom.retag(node, "span")
        for name in ("hidden", "aria-hidden", "style", "role"):
            dom.set_attr(node, name, None)


def _is_in_code(node: dom.Node) -> bool:
    """Return whether the node is in a code block, whose buttons and hidden line numbers are not text."""
    above = node.parent
    for _ in range(_MAX_CODE_LEVELS):
        if not isinstance(above, dom.Element):
            return False
        if above.tag in ("pre", "code"):
            return True
        above = above.parent
    return False


def _find_footnotes(survey: Survey, content: Content) -> list[dom.Element]:
    """Find footnotes outside the content, as some layouts put them below the article, when its text has marks for them."""
    root = survey.nodes[content.root]
    if content.root == 0 or dom.first(root, _FOOTNOTE_MARKS) is None:
        return []
    boxes = dom.select(survey.nodes[0], _FOOTNOTES)
    if not boxes:
        return []
    places = survey.find_nodes(boxes[:_MAX_FOOTNOTE_BOXES])
    footnotes: list[dom.Element] = []
    for box in boxes[:_MAX_FOOTNOTE_BOXES]:
        is_within = content.root <= places.get(box, 0) < survey.end[content.root]
        if not is_within and not _contains(box, root) and not any(_contains(other, box) for other in footnotes):
            footnotes.append(box)
    return footnotes if any(dom.text_of(box).strip() for box in footnotes) else []


def _contains(outer: dom.Node, node: dom.Node) -> bool:
    above: dom.Node | None = node
    while above is not None and above is not outer:
        above = above.parent
    return above is outer


def report_removals(survey: Survey, content: Content) -> tuple[Removal, ...]:
    """Return what `cut` removes, most words first. Must be called before `cut`."""
    lost = _find_lost(survey, content)
    opaque = survey.find_tags(*OPAQUE_LISTED)
    removals = [
        _removal(survey.nodes[index], words, lost[index])
        for index in survey.iterate_outermost(lost)
        if (words := _count_words(survey, index, opaque))
    ]
    removals += _report_controls(survey, content.root, lost)
    removals.sort(key=lambda removal: -removal.words)
    return (*removals[:_MAX_REMOVALS], *_summarise(removals[_MAX_REMOVALS:]))


def report_doubts(survey: Survey, content: Content) -> tuple[Doubt, ...]:
    """Return what was nearly left out. Must be called before `cut`."""
    opaque = survey.find_tags(*OPAQUE_LISTED) if content.doubts else []
    return tuple(
        Doubt(element_name(survey.nodes[index]), reason, _count_words(survey, index, opaque))
        for index, reason in content.doubts
    )


def _summarise(removals: list[Removal]) -> Iterator[Removal]:
    """Yield one removal for all of the same reason and step."""
    groups: dict[tuple[str, str], list[int]] = {}
    for removal in removals:
        groups.setdefault((removal.reason, removal.step), []).append(removal.words)
    for (reason, step), words in groups.items():
        yield Removal(f"{len(words)} smaller elements", reason, sum(words), step)


def _removal(node: dom.Node, words: int, exclusion: Exclusion) -> Removal:
    return Removal(element_name(node), exclusion.reason.value, words, exclusion.step)


def _count_words(survey: Survey, index: int, opaque: Sequence[int]) -> int:
    """Count the words in a subtree, also those in the `opaque` drawings and frames but not in scripts."""
    end = survey.end[index]
    texts = survey.texts_in(index, end) if survey.chars[index] else []
    first = bisect_left(opaque, index)
    texts += [dom.text_of(survey.nodes[place]) for place in opaque[first : bisect_left(opaque, end, first)]]
    return len(" ".join(texts).split())


def _report_controls(survey: Survey, root: int, lost: Exclusions) -> Iterator[Removal]:
    """Yield the form controls that are lost with their text; those within the content are left to the clean-up."""
    ends: dict[int, int] = {}
    """Where the way up from a node ends, so that no node is passed twice."""
    for parent, control in survey.controls:
        above, passed = parent, []
        while above not in lost and above not in (0, root) and above not in ends:
            passed.append(above)
            above = survey.parent[above]
        above = ends.get(above, above)
        ends.update(dict.fromkeys(passed, above))
        words = len(dom.text_of(control).split())
        if words and (above in lost or above != root):
            yield _removal(control, words, lost.get(above, _OUTSIDE))


def _find_lost(survey: Survey, content: Content) -> Exclusions:
    """Return what is excluded, and what is outside the content's container."""
    if content.made is not None:
        return {0: Exclusion(Reason.REPLACED, LOCATE_STEP)}
    root = content.root
    around = {root, *survey.ancestors(root)}
    lost = {index: exclusion for index, exclusion in content.excluded.items() if index not in around}
    if root == 0:
        return lost
    kept = set(map(id, _find_footnotes(survey, content)))
    excluded = sorted(lost)
    index, end = 1, survey.end[0]
    while index < end:
        following = survey.end[index]
        if index == root or index in lost or id(survey.nodes[index]) in kept:
            index = following
        elif index in around or bisect_left(excluded, following) > bisect_left(excluded, index):
            index += 1  # the content or something excluded is inside: only what is beside it counts
        else:
            lost[index] = _OUTSIDE
            index = following
    return lost
