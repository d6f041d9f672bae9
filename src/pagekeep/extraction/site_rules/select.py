"""Run the selectors of rules, count words and name elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pagekeep import dom
from pagekeep import text as words


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
