"""The content as a tree of plain values, from which Markdown and text are written.

The HTML library makes an object of a node each time it is looked at. Here everything is read once, so that several writers
can walk the content at a fraction of the cost.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final, TypeAlias

from pagekeep import dom

LISTED: Final = frozenset(("a", "section", "sup", "rp"))
"""Tags of elements that writers look for before they start."""


class CleanElement:
    """An element: its tag, attributes and children, which are elements and texts."""

    __slots__ = ("attributes", "children", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], children: list[CleanNode]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children = children

    def attr(self, name: str) -> str:
        """Return an attribute; empty without one."""
        return self.attributes.get(name, "")


CleanNode: TypeAlias = CleanElement | str


class CleanTree:
    """The content. Runs of white space in a text are one space, except in `pre` and display math."""

    __slots__ = ("root", "tagged")

    def __init__(self, root: CleanElement, tagged: dict[str, list[CleanElement]]) -> None:
        self.root = root
        self.tagged = tagged
        """By tag, all elements with one of the tags in `LISTED`, in document order."""


def collapse(text: str) -> str:
    """Return the text with one space for each run of white space, also at its ends."""
    if text.isprintable() and "  " not in text:  # the only white space that is printable is a space
        return text
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


_PREFORMATTED: Final = frozenset(("pre", "listing", "xmp"))


def read_tree(root: dom.Element) -> CleanTree:
    """Read an element of the HTML library with everything in it, but comments."""
    top: list[CleanNode] = []
    tagged: dict[str, list[CleanElement]] = {}
    pending: list[tuple[dom.Node, list[CleanNode], bool]] = [(root, top, False)]
    while pending:
        node, siblings, exact = pending.pop()
        if isinstance(node, dom.Text):
            text = node.data if exact else collapse(node.data)
            if siblings and isinstance(siblings[-1], str):
                siblings[-1] += text
            else:
                siblings.append(text)
        elif isinstance(node, dom.Element):
            tag, attributes = node.tag, dom.attributes(node)
            element = CleanElement(tag, attributes, [])
            siblings.append(element)
            if tag in LISTED:
                tagged.setdefault(tag, []).append(element)
            exact = exact or tag in _PREFORMATTED or (tag == "div" and "math-block" in element.attr("class"))
            pending.extend([(child, element.children, exact) for child in reversed(node.children)])
    whole = top[0]
    assert isinstance(whole, CleanElement)
    return CleanTree(whole, tagged)


def text_of(node: CleanElement) -> str:
    """Return all text below the element."""
    texts: list[str] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, str):
            texts.append(child)
        else:
            pending.extend(child.children[::-1])
    return "".join(texts)


def find_all(node: CleanElement, tags: Container[str]) -> list[CleanElement]:
    """Return the elements below this one with one of the tags, in document order."""
    found: list[CleanElement] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if not isinstance(child, str):
            if child.tag in tags:
                found.append(child)
            pending.extend(child.children[::-1])
    return found


def has_any(node: CleanElement, tags: Container[str]) -> bool:
    """Return whether there is an element with one of the tags below this one."""
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if not isinstance(child, str):
            if child.tag in tags:
                return True
            pending.extend(child.children[::-1])
    return False
