"""The seam over the HTML library (turbohtml): the only module that may import it.

The rest of the house uses the types and functions below and, on nodes, only these members, which any DOM library can
offer: `Element.tag`, `Element.attr(name)`, `Text.data`, and on every node `children`, `parent`, `next_sibling`,
`previous_sibling`. Node identity is stable (`is` and hashing work while a reference is held). Whatever changes a tree is
a function here.
"""

from __future__ import annotations

import copy as _copy
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Final

from turbohtml import Comment, Document, Element, Node, SelectorSyntaxError, Text
from turbohtml import parse as _parse
from turbohtml import parse_fragment as _parse_fragment
from turbohtml.detect import detect as _detect
from turbohtml.detect import detect_language as _detect_language

__all__ = [
    "MAX_DEPTH",
    "Comment",
    "Document",
    "Element",
    "Node",
    "SelectorError",
    "Text",
    "add_after",
    "add_before",
    "append",
    "attributes",
    "bound_depth",
    "copy",
    "decode",
    "drop",
    "drop_after",
    "element",
    "elements",
    "first",
    "html_of",
    "inner_html",
    "language_of",
    "matches",
    "next_element",
    "nodes",
    "parse",
    "parse_fragment",
    "prepend",
    "previous_element",
    "replace",
    "retag",
    "select",
    "set_attr",
    "tagged",
    "text_of",
    "texts_of",
    "unwrap",
    "wrap",
]

SelectorError = SelectorSyntaxError

MAX_DEPTH: Final = 500
"""Deeper trees are flattened before anything recursive sees them: Python's stack and nh3 (quadratic in depth) need it."""


def parse(html: str) -> Document:
    """The WHATWG tree of a whole page."""
    return _parse(html, positions=False)


def parse_fragment(html: str) -> Element:
    """A detached `div` that holds the parsed markup."""
    return _parse_fragment(html, positions=False)


def decode(data: bytes, label: str | None = None) -> tuple[str, str] | None:
    """The text and the WHATWG name of its encoding: the one the label names, else by BOM, `<meta>` and content.

    `None` when the label names no encoding of the web (Python knows more, such as `unicode_escape`).
    """
    if label is not None:
        try:
            return data.decode(f"whatwg-{label.strip().lower()}", "replace"), label.strip().lower()
        except (LookupError, ValueError):
            return None
    match = _detect(data)
    if match.codec is None:
        return data.decode("windows-1252", "replace"), "windows-1252"
    return data.decode(match.codec, "replace"), (match.encoding or "windows-1252").lower()


def language_of(text: str) -> str | None:
    """The ISO 639-3 code of the language a text is written in, from its letters alone; `None` for no known script."""
    return _detect_language(text).language


def select(node: Node, css: str) -> list[Element]:
    """Descendants that match, in document order; `SelectorError` for a malformed selector."""
    return node.select(css)


def first(node: Node, css: str) -> Element | None:
    """The first descendant that matches."""
    return node.select_one(css)


def matches(node: Element, css: str) -> bool:
    """Whether the element itself matches."""
    return node.matches(css)


def nodes(node: Node) -> Iterator[Node]:
    """All descendants in document order, text and comments included. Do not change the tree meanwhile."""
    return node.descendants


def elements(node: Node) -> Iterator[Element]:
    """All descendant elements in document order. Do not change the tree meanwhile."""
    return node.iter_elements()


def tagged(node: Node, tags: Collection[str], most: int | None = None) -> list[Element]:
    """Descendants with one of these names, in document order and at most so many: several times as fast as a selector of
    many names."""
    return list(islice(node.iter_elements(tags), most))


def attributes(node: Element) -> dict[str, str]:
    """A copy of the element's attributes, every value a plain string."""
    plain: dict[str, str] = {}
    for name, value in node.attrs.items():
        plain[name] = " ".join(value) if isinstance(value, list) else (value or "")
    return plain


def set_attr(node: Element, name: str, value: str | None) -> None:
    """Set an attribute; `None` removes it."""
    if value is not None:
        node.attrs[name] = value
    elif name in node.attrs:
        del node.attrs[name]


def text_of(node: Node) -> str:
    """All text below the node, as it stands in the source."""
    return node.text


def texts_of(node: Node) -> Iterator[str]:
    """The texts below the node one by one, in document order."""
    return node.strings


def html_of(node: Node) -> str:
    """The node as HTML."""
    return node.html


def inner_html(node: Node) -> str:
    """The node's children as HTML."""
    return node.inner_html


def element(tag: str, attrs: Mapping[str, str] | None = None, *children: Node | str) -> Element:
    """A new detached element; strings become text. Attributes copied from a page may have names that only a parser can
    make (`<p =>`): those are left out."""
    named = {name: value for name, value in attrs.items() if _is_name(name)} if attrs else None
    made = Element(tag, named or None)
    append(made, *children)
    return made


_IN_NO_NAME: Final = frozenset(" \t\n\f\r\0/=>")


def _is_name(name: str) -> bool:
    return bool(name) and _IN_NO_NAME.isdisjoint(name)


def _node(item: Node | str) -> Node:
    return Text(item) if isinstance(item, str) else item


def append(parent: Element, *children: Node | str) -> None:
    """Put children at the end, taking them from wherever they are."""
    for child in children:
        parent.append(_node(child))


def prepend(parent: Element, *children: Node | str) -> None:
    """Put children at the beginning, in the order given."""
    for index, child in enumerate(children):
        parent.insert(index, _node(child))


def add_before(node: Node, *others: Node | str) -> None:
    """Put others right before the node."""
    node.insert_before(*[_node(other) for other in others])


def add_after(node: Node, *others: Node | str) -> None:
    """Put others right after the node."""
    node.insert_after(*[_node(other) for other in others])


def replace(node: Node, *others: Node | str) -> None:
    """Put others where the node is and detach the node."""
    node.replace_with(*[_node(other) for other in others])


def drop(node: Node) -> None:
    """Detach the node with everything in it; what stands behind it stays."""
    node.extract()


def unwrap(node: Element) -> None:
    """Put the node's children where it is."""
    node.unwrap()


def wrap(node: Node, wrapper: Element) -> Element:
    """Put the wrapper where the node is, and the node in it."""
    return node.wrap(wrapper)


def retag(node: Element, tag: str) -> None:
    """Change the element's name; attributes and children stay."""
    node.tag = tag


def copy(node: Element) -> Element:
    """A detached deep copy."""
    return _copy.deepcopy(node)


def _element_beside(node: Node, step: Callable[[Node], Node | None]) -> Element | None:
    beside = step(node)
    while beside is not None and not isinstance(beside, Element):
        beside = step(beside)
    return beside


def next_element(node: Node) -> Element | None:
    """The next sibling that is an element."""
    return _element_beside(node, lambda current: current.next_sibling)


def previous_element(node: Node) -> Element | None:
    """The previous sibling that is an element."""
    return _element_beside(node, lambda current: current.previous_sibling)


def drop_after(node: Node) -> None:
    """Detach everything that stands behind the node in document order; what stands in it stays."""
    current: Node | None = node
    while current is not None:
        beside = current.next_sibling
        while beside is not None:
            following = beside.next_sibling
            beside.extract()
            beside = following
        current = current.parent


def bound_depth(root: Element, limit: int = MAX_DEPTH) -> int:
    """Unwrap every element below `limit` that holds other elements; the number unwrapped.

    Leaves (paragraphs of text, images, links) survive and no text is lost. Outermost first, so each node moves once.
    """
    too_deep: list[Element] = []
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        inner = [child for child in node.children if isinstance(child, Element)]
        if depth > limit and inner:
            too_deep.append(node)
        pending.extend((child, depth + 1) for child in reversed(inner))
    for node in too_deep:
        node.unwrap()
    return len(too_deep)
