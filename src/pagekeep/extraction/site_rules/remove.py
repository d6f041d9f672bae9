"""The parts of a page that a rule removes."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep import dom
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, count_words, found, outermost, short_name
from pagekeep.model import Removal, RuleEffect
from pagekeep.rules.prefilter import Names


@dataclass(frozen=True, slots=True)
class Removed:
    """What went, for the trace and for whoever must still know what it said."""

    effects: tuple[RuleEffect, ...] = ()
    removals: tuple[Removal, ...] = ()
    nodes: tuple[dom.Element, ...] = ()


def remove(root: dom.Node, selectors: tuple[str, ...], reason: str, names: Names) -> Removed:
    """Detach what the selectors find below the root, the outermost elements alone counted. `names` are the root's."""
    asked = tuple(selector for selector in selectors if names.may_match(selector))
    good, matching = _found_by(root, asked)
    bad = set(asked).difference(good)
    nodes = list(outermost(matching, ", ".join(good)))
    words = [count_words([node]) for node in nodes]
    owners = [_owner(node, good) for node in nodes]
    removals = [Removal(short_name(node), reason, held) for node, held in zip(nodes, words, strict=True)]
    for node in nodes:
        dom.drop(node)
    effects = [
        RuleEffect("remove", selector, 0, 0, BAD_SELECTOR)
        if selector in bad
        else RuleEffect("remove", selector, owners.count(selector), _sum(words, owners, selector))
        for selector in selectors
    ]
    return Removed(tuple(effects), tuple(removals), tuple(nodes))


def _found_by(root: dom.Node, selectors: tuple[str, ...]) -> tuple[tuple[str, ...], list[dom.Element]]:
    """The selectors that are some, and what they find: asked all at once, which costs less than one by one."""
    matching = found(root, ", ".join(selectors))
    if matching is not None:
        return selectors, matching
    good = tuple(selector for selector in selectors if found(root, selector) is not None)
    return good, dom.select(root, ", ".join(good)) if good else []


def _owner(node: dom.Element, selectors: tuple[str, ...]) -> str:
    return next((selector for selector in selectors if dom.matches(node, selector)), selectors[-1])


def _sum(words: list[int], owners: list[str], selector: str) -> int:
    return sum(held for held, owner in zip(words, owners, strict=True) if owner == selector)
