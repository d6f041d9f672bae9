"""Which elements stand as blocks, which within a line, and which hold what: the words the clean-up thinks in."""

from __future__ import annotations

from itertools import islice
from typing import Final

from pagekeep import dom

HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
WRAPPERS: Final = frozenset(
    (
        "div section article main header footer aside nav center form fieldset legend hgroup search dialog body html"
    ).split()
)
"""Boxes that mean nothing once the page is cut: their content is what counts."""
HOLDERS: Final = frozenset("li dd blockquote td th details address".split())
"""Blocks that stay and hold either one line of text or other blocks."""
LINES: Final = frozenset("dt summary figcaption caption".split()) | HEADINGS
"""Blocks that hold one line of text and no other block."""
LISTS: Final = frozenset(("ul", "ol"))
BLOCKS: Final = (
    WRAPPERS | HOLDERS | LINES | LISTS | frozenset("p dl hr pre figure table thead tbody tfoot tr colgroup col".split())
)
VOID: Final = frozenset("img br hr input col wbr source track area base embed link meta param".split())
FORMATTING: Final = frozenset("strong em s del ins sub sup mark kbd code abbr q cite small".split())
KEPT_INLINE: Final = FORMATTING | {"a", "ruby", "rt", "rp"}
"""Inline elements of clean HTML; the sanitiser leaves only the text of all others."""
OWN_CLASSES: Final = frozenset(("math-block", "math-inline", "footnotes"))
"""Classes of boxes that the clean-up made itself and that must stay."""


def class_names(node: dom.Element) -> list[str]:
    """The element's classes, as written."""
    return (node.attr("class") or "").split()


def is_blank(node: dom.Node) -> bool:
    """Whether the node is white space or a comment, so that two neighbours of it still touch."""
    if isinstance(node, dom.Text):
        data = node.data
        return not data or data.isspace()
    return not isinstance(node, dom.Element)


def is_tag(node: dom.Node | None, tag: str) -> bool:
    """Whether the node is an element of this name."""
    return isinstance(node, dom.Element) and node.tag == tag


def only_child(node: dom.Element) -> dom.Element | None:
    """The single child element, when there is nothing else to see."""
    inside = [child for child in node.children if not is_blank(child)]
    if len(inside) == 1 and isinstance(inside[0], dom.Element):
        return inside[0]
    return None


def stands_alone(node: dom.Node) -> bool:
    """Whether the node's parent shows nothing else."""
    return shown_before(node) is None and shown_after(node) is None


_MOST_BLANKS: Final = 100
"""Blanks looked past at most: between more than that, nodes do not stand together. Keeps the cost of long rows in line."""


def shown_before(node: dom.Node) -> dom.Node | None:
    """The nearest earlier sibling that shows something."""
    before = node.previous_sibling
    for _ in range(_MOST_BLANKS):
        if before is None or not is_blank(before):
            break
        before = before.previous_sibling
    return before


def shown_after(node: dom.Node) -> dom.Node | None:
    """The nearest later sibling that shows something."""
    after = node.next_sibling
    for _ in range(_MOST_BLANKS):
        if after is None or not is_blank(after):
            break
        after = after.next_sibling
    return after


def head_of(node: dom.Element, size: int) -> list[dom.Element]:
    """The first elements below the node: what a look inside may cost, however much stands there."""
    return list(islice(dom.elements(node), size))


def fill(node: dom.Element, *children: dom.Node | str) -> None:
    """Let exactly these be the node's children."""
    for child in node.children:
        dom.drop(child)
    dom.append(node, *children)


def parent_it_heads(node: dom.Element) -> dom.Element | None:
    """What the element stands in, when nothing but blanks stands before it there."""
    parent = node.parent
    return parent if shown_before(node) is None and isinstance(parent, dom.Element) else None
