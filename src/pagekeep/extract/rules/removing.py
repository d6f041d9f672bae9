"""The parts of a page that a rule removes."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep import dom
from pagekeep.extract.rules.finding import BAD_SELECTOR, count_words, found, outermost, short_name
from pagekeep.model import Removal, RuleDeed


@dataclass(frozen=True, slots=True)
class Removed:
    """What went, for the trace and for whoever must still know what it said."""

    deeds: tuple[RuleDeed, ...] = ()
    removals: tuple[Removal, ...] = ()
    nodes: tuple[dom.Element, ...] = ()


def remove(root: dom.Node, selectors: tuple[str, ...], reason: str) -> Removed:
    """Detach what the selectors find below the root, the outermost elements alone counted."""
    good, bad = _sorted_out(root, selectors)
    css = ", ".join(good)
    nodes = list(outermost(dom.select(root, css), css)) if good else []  # one search for all: most find nothing
    words = [count_words([node]) for node in nodes]
    owners = [_owner(node, good) for node in nodes]
    removals = [Removal(short_name(node), reason, held) for node, held in zip(nodes, words, strict=True)]
    for node in nodes:
        dom.drop(node)
    deeds = [
        RuleDeed("remove", selector, owners.count(selector), _sum(words, owners, selector))
        if selector not in bad
        else RuleDeed("remove", selector, 0, 0, BAD_SELECTOR)
        for selector in selectors
    ]
    return Removed(tuple(deeds), tuple(removals), tuple(nodes))


def _sorted_out(root: dom.Node, selectors: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """Selectors that are some, and those that are none."""
    if found(root, ", ".join(selectors)) is not None:
        return list(selectors), set()
    bad = {selector for selector in selectors if found(root, selector) is None}
    return [selector for selector in selectors if selector not in bad], bad


def _owner(node: dom.Element, selectors: list[str]) -> str:
    return next((selector for selector in selectors if dom.matches(node, selector)), selectors[-1])


def _sum(words: list[int], owners: list[str], selector: str) -> int:
    return sum(held for held, owner in zip(words, owners, strict=True) if owner == selector)
