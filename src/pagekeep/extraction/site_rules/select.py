"""The elements that a rule's selector means, and how many words they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pagekeep import dom
from pagekeep import text as words


def found(root: dom.Node, css: str) -> list[dom.Element] | None:
    """What the selector finds below the root; `None` when it is no selector, so that a rule can never break a page."""
    try:
        return dom.select(root, css)
    except dom.SelectorError:
        return None


def outermost(nodes: Sequence[dom.Element], css: str) -> Iterator[dom.Element]:
    """Those of the nodes that stand in no other. `css` found them; ask before the tree is changed."""
    inside: set[int] = set()
    for node in nodes:
        if id(node) not in inside:
            if any(
                isinstance(child, dom.Element) for child in node.children
            ):  # a search in each of 100,000 leaves adds up
                inside.update(map(id, dom.select(node, css)))
            yield node


def count_words(nodes: Iterable[dom.Node]) -> int:
    """Words in the nodes, none of which stands in another; those of neighbouring cells do not run together."""
    return sum(words.count_words(" ".join(dom.texts_of(node)) or dom.text_of(node)) for node in nodes)


def short_name(node: dom.Element) -> str:
    """The element as in CSS, with its id or first classes."""
    identifier = (node.attr("id") or "").split()
    if identifier:
        return f"{node.tag}#{identifier[0][:40]}"
    names = [name[:40] for name in (node.attr("class") or "").split()[:2]]
    return ".".join([node.tag, *names])


BAD_SELECTOR = "not a selector, ignored"
NOTHING_FOUND = "matched nothing, ignored"
