"""Which elements are blocks, which are inline, and what each may hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from pagekeep import dom

HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
WRAPPERS: Final = frozenset(
    (
        "div section article main header footer aside nav center form fieldset legend hgroup search dialog body html"
    ).split()
)
"""Boxes that mean nothing once the content is cut out: only what they hold counts."""
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
"""Inline elements of clean HTML; the sanitiser keeps only the text of all others."""
DRAWING: Final = "data-drawing"
"""Attribute of a figure that has only the words in place of a drawing; the sanitiser removes it."""
OWN_CLASSES: Final = frozenset(("math-block", "math-inline", "footnotes"))
"""Classes of boxes that the clean-up creates and that must stay."""


def class_names(node: dom.Element) -> list[str]:
    """Return the element's classes as written."""
    return (node.attr("class") or "").split()


def is_blank(node: dom.Node) -> bool:
    """Return whether the node is white space or a comment."""
    if isinstance(node, dom.Text):
        data = node.data
        return not data or data.isspace()
    return not isinstance(node, dom.Element)


def is_line(nodes: Sequence[dom.Node]) -> bool:
    """Return whether the nodes are a single text with words, as most lines are."""
    return len(nodes) == 1 and isinstance(nodes[0], dom.Text) and not is_blank(nodes[0])


def is_tag(node: dom.Node | None, tag: str) -> bool:
    """Return whether the node is an element with this tag."""
    return isinstance(node, dom.Element) and node.tag == tag


def is_only_child(node: dom.Node) -> bool:
    """Return whether the node's parent shows nothing else."""
    return shown_before(node) is None and shown_after(node) is None


_MAX_BLANKS: Final = 100
"""Blank siblings that are skipped; across more than that, nodes are not neighbours. Keeps long rows linear in time."""


def shown_before(node: dom.Node) -> dom.Node | None:
    """Return the nearest earlier sibling that is not blank."""
    before = node.previous_sibling
    for _ in range(_MAX_BLANKS):
        if before is None or not is_blank(before):
            break
        before = before.previous_sibling
    return before


def shown_after(node: dom.Node) -> dom.Node | None:
    """Return the nearest later sibling that is not blank."""
    after = node.next_sibling
    for _ in range(_MAX_BLANKS):
        if after is None or not is_blank(after):
            break
        after = after.next_sibling
    return after


def ancestors(node: dom.Node, limit: int) -> Iterator[dom.Element]:
    """Yield the elements around the node, innermost first and at most `limit` of them."""
    above = node.parent
    for _ in range(limit):
        if not isinstance(above, dom.Element):
            return
        yield above
        above = above.parent


def first_elements(node: dom.Element, size: int) -> list[dom.Element]:
    """Return at most `size` elements below the node, in document order: a look inside at a bounded cost."""
    return list(islice(dom.elements(node), size))


def fill(node: dom.Element, *children: dom.Node | str) -> None:
    """Make these the node's only children."""
    for child in node.children:
        dom.drop(child)
    dom.append(node, *children)


def parent_it_begins(node: dom.Element) -> dom.Element | None:
    """Return the element's parent if nothing but blanks precedes the element in it."""
    parent = node.parent
    return parent if shown_before(node) is None and isinstance(parent, dom.Element) else None
