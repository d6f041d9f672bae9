"""The loss check: compare the page as it arrived with what was written, and report what vanished.

`record` notes every code block, table, list, image and formula before any step changes the page; `expect` decides which of
them belong to the content; `compare` looks for those in the result. What a step removed on purpose leaves a record and is no
loss, with one exception: a formula must be there as TeX. From clean HTML to Markdown every piece is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean import Changes
from pagekeep.extraction.clean.media.images import is_emoji
from pagekeep.extraction.output.losses.arrived import (
    KINDS,
    Arrived,
    Expected,
    Structure,
    StructureKind,
    expect,
    record,
    squeeze,
)
from pagekeep.extraction.output.losses.written import find_unwritten
from pagekeep.model import PageWarning
from pagekeep.values import dataclass

__all__ = ["NOT_COMPARED", "Arrived", "Comparison", "Expected", "compare", "expect", "record"]

_CHUNK_CHARS: Final = 12
_MIN_CHUNK_SHARE: Final = 0.3
"""Share of a structure's text that must be left of it: line numbers, buttons and marks between its words are removed."""
_MAX_NESTING: Final = dom.MAX_DEPTH + 10
"""Levels between a structure and the content's root, or a removed element around it."""
_FORMULAS: Final = "span.math-inline,div.math-block"
_STRUCTURES: Final = f"{','.join(KINDS)},.math-inline,.math-block"
_IN_PART: Final = "the page has more code, tables, lists and images than are compared; the others are all there"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of the loss check."""

    lost: tuple[str, ...] = ()
    """What was lost, in words."""
    unknown: str | None = None
    """What was not compared, if anything."""
    note: str = "code, tables, lists, images, math and links are all there"
    """What is claimed when nothing was lost and everything was compared."""
    warnings: tuple[PageWarning, ...] = ()
    """What the clean-up removed by design."""

    @property
    def passed(self) -> bool:
        """Return whether everything was compared and nothing was lost."""
        return not self.lost and self.unknown is None

    @property
    def text(self) -> str:
        """Return what was lost, else what was not compared, else that everything is there."""
        return "; ".join(self.lost) or self.unknown or self.note


NOT_COMPARED: Final = Comparison(unknown="nothing was compared with the page")


def compare(expected: Expected, content: dom.Element, changes: Changes, root: dom.Element, markdown: str) -> Comparison:
    """Look for what is expected in the cleaned content and in the clean HTML, and for everything of that in the Markdown.

    `changes` are what rules and clean-up did to the content on purpose.
    """
    counts = Counter([structure.kind for structure in (*expected.structures, *expected.vanished)])
    lost = Counter(structure.kind for structure in expected.vanished)
    lost.update(_find_lost(expected, content, changes, root))
    words = [f"{lost[kind]} of {max(lost[kind], counts[kind])} {kind} lost" for kind in lost]
    had = _count_kinds(content)
    has = had if root is content else _count_kinds(root)
    words += [f"{had[kind] - has[kind]} of {had[kind]} {kind} lost" for kind in had if has[kind] < had[kind]]
    words += find_unwritten(root, markdown)
    unknown = None if expected.is_complete else _IN_PART
    return Comparison(tuple(dict.fromkeys(words)), unknown, warnings=_report_reduced(counts, has))


def _report_reduced(counts: Counter[StructureKind], clean: Counter[StructureKind]) -> tuple[PageWarning, ...]:
    """Return a warning with what the clean-up left of each kind, when it removed some by design."""
    less = [
        f"{clean[kind]} of {count} {kind}" for kind, count in counts.items() if kind != "math" and clean[kind] < count
    ]
    text = f"the clean-up kept {', '.join(less)}; what showed nothing or only laid out the page was removed"
    return (PageWarning("reduced", text),) if less else ()


def _find_lost(
    expected: Expected, content: dom.Element, changes: Changes, root: dom.Element
) -> Iterator[StructureKind]:
    """Yield the kind of all that is expected, or was made of it, and is neither in the content nor removed on purpose."""
    present = set(dom.select(content, _STRUCTURES))
    missing = [structure for structure in expected.structures if structure.node not in present]
    formulas: Counter[str] | None = None
    known = {structure.node for structure in missing}
    for structure in missing:
        if structure.kind == "math":
            if formulas is None:
                formulas = Counter(squeeze(dom.text_of(node)) for node in dom.select(root, _FORMULAS))
            is_kept = _take(formulas, structure)
        else:
            is_kept = _is_below(structure.node, content, changes.removed) or _is_kept_in_another_form(
                structure, changes, root
            )
        if not is_kept:
            yield structure.kind
    for node in changes.made:
        is_gone = node not in present and node not in known and not _is_below(node, content, changes.removed)
        if is_gone and dom.text_of(node).strip():  # without text it was taken apart
            yield KINDS.get(node.tag, "math")


def _is_kept_in_another_form(structure: Structure, changes: Changes, root: dom.Element) -> bool:
    """Return whether a structure that is no longer there was an emoji, or was taken apart and its text is there.

    What was in it may also have been removed on purpose, such as buttons and tooltips.
    """
    if structure.is_intact:
        return structure.kind == "images" and is_emoji(structure.node)
    if structure.node in changes.reduced:
        return True
    text = squeeze(dom.text_of(root))
    return structure.start in text or _has_much_of(text, structure.start)


def _take(formulas: Counter[str], structure: Structure) -> bool:
    """Take the formula out of those of the result; return whether it is there, alone or in an equation of several."""
    if formulas[structure.start] > 0:
        formulas[structure.start] -= 1
        return True
    return not structure.start or any(structure.start in formula for formula in formulas)


def _is_below(node: dom.Node, content: dom.Element, removed: Collection[dom.Node]) -> bool:
    """Return whether the node is still in the content, under another tag, or in something that was removed on purpose."""
    above: dom.Node | None = node
    for _ in range(_MAX_NESTING):
        if above is None or above is content or above in removed:
            break
        above = above.parent
    return above is not None


def _has_much_of(text: str, start: str) -> bool:
    """Return whether a text has much of a structure, without what the clean-up removes between its words."""
    if len(start) < 2 * _CHUNK_CHARS:
        return False
    chunks = [start[place : place + _CHUNK_CHARS] for place in range(0, len(start) - _CHUNK_CHARS + 1, _CHUNK_CHARS)]
    return sum(chunk in text for chunk in chunks) >= _MIN_CHUNK_SHARE * len(chunks)


def _count_kinds(tree: dom.Element) -> Counter[StructureKind]:
    return Counter([KINDS[node.tag] for node in dom.tagged(tree, tuple(KINDS))])
