"""Tell the date of the page from those of a list by its markup, which no other date has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from pagekeep import dom

_LEVELS: Final = 3
"""The element of a date and two around it, whose tags and classes are compared."""

Dated = TypeVar("Dated")
Signature = tuple[tuple[str, str], ...]


def find_unrepeated(
    dates: Sequence[Dated], element: Callable[[Dated], dom.Element], day: Callable[[Dated], str]
) -> Dated | None:
    """Return the first date whose markup no other date has, unless there are others of another day."""
    signatures = [_signature(element(dated)) for dated in dates]
    counts = Counter(signatures)
    single = [dated for dated, signature in zip(dates, signatures, strict=True) if counts[signature] == 1]
    return single[0] if single and len({day(dated) for dated in single}) == 1 else None


def _signature(element: dom.Element) -> Signature:
    levels: list[tuple[str, str]] = []
    node: dom.Node | None = element
    while isinstance(node, dom.Element) and len(levels) < _LEVELS:
        levels.append((node.tag, node.attr("class") or ""))
        node = node.parent
    return tuple(levels)
