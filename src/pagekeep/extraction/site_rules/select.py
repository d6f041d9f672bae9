"""Run the selectors of rules, name the elements, and remove what a rule names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pagekeep import dom
from pagekeep import text as words
from pagekeep.extraction.steps import element_name
from pagekeep.model import Removal, RuleEffect
from pagekeep.rules.prefilter import Names
from pagekeep.values import dataclass


def select_all(root: dom.Node, css: str) -> list[dom.Element] | None:
    """Return the matches below the root, or `None` for an invalid selector, so that a rule never breaks a page."""
    try:
        return dom.select(root, css)
    except dom.SelectorError:
        return None


def outermost(nodes: Sequence[dom.Element], css: str) -> Iterator[dom.Element]:
    """Yield the nodes that are not inside another; `css` matched them, and the tree has not changed since."""
    inside: set[int] = set()
    for node in nodes:
        if id(node) not in inside:
            # Skip leaves: a search in each of 100,000 adds up.
            if any(isinstance(child, dom.Element) for child in node.children):
                inside.update(map(id, dom.select(node, css)))
            yield node


def count_words(nodes: Iterable[dom.Node]) -> int:
    """Count the words in the nodes, which must not be nested; words of adjacent cells are separate."""
    return sum(words.count_words(" ".join(dom.texts_of(node)) or dom.text_of(node)) for node in nodes)


BAD_SELECTOR: Final = "not a selector, ignored"
NOTHING_FOUND: Final = "matched nothing, ignored"


@dataclass(frozen=True, slots=True)
class RemovedElements:
    """The removed elements, with their effects and removals for the trace."""

    effects: tuple[RuleEffect, ...] = ()
    removals: tuple[Removal, ...] = ()
    nodes: tuple[dom.Element, ...] = ()
    owners: tuple[str, ...] = ()
    """The selector that removed each of them."""


def remove_elements(root: dom.Node, selectors: tuple[str, ...], reason: str, names: Names) -> RemovedElements:
    """Remove all matches below the root; only outermost elements count. `names` are the root's names."""
    possible = tuple(selector for selector in selectors if names.may_match(selector))
    valid, matching = _select(root, possible)
    invalid = set(possible).difference(valid)
    nodes = list(outermost(matching, ", ".join(valid)))
    words = [count_words([node]) for node in nodes]
    owners = [_owner(node, valid) for node in nodes]
    removals = [Removal(element_name(node), reason, count) for node, count in zip(nodes, words, strict=True)]
    for node in nodes:
        dom.drop(node)
    effects = [
        RuleEffect("remove", selector, 0, 0, BAD_SELECTOR)
        if selector in invalid
        else RuleEffect("remove", selector, owners.count(selector), _sum_words(words, owners, selector))
        for selector in selectors
    ]
    return RemovedElements(tuple(effects), tuple(removals), tuple(nodes), tuple(owners))


def _select(root: dom.Node, selectors: tuple[str, ...]) -> tuple[tuple[str, ...], list[dom.Element]]:
    """Return the valid selectors and their matches; one query for all takes less time than one each."""
    matching = select_all(root, ", ".join(selectors))
    if matching is not None:
        return selectors, matching
    valid = tuple(selector for selector in selectors if select_all(root, selector) is not None)
    return valid, dom.select(root, ", ".join(valid)) if valid else []


def _owner(node: dom.Element, selectors: tuple[str, ...]) -> str:
    return next((selector for selector in selectors if dom.matches(node, selector)), selectors[-1])


def _sum_words(words: list[int], owners: list[str], selector: str) -> int:
    return sum(count for count, owner in zip(words, owners, strict=True) if owner == selector)
