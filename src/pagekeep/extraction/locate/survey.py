"""One walk over the page into flat parallel arrays, so that every later decision is arithmetic on lists.

The tree is not touched again until the winner of the chain is cut out of it. Index 0 is the root; descendants of `i` are
`i + 1 .. end[i] - 1`, in document order. Text nodes that hold only white space are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import class_names

TEXT: Final = "#text"

# Elements whose id names a part of the layout. On headings, sections and list items it is a slug of their own words.
_IDENTIFIED: Final = frozenset("div ul ol aside nav form footer header table center dialog article".split())

_IDEOGRAPHS: Final = "\u2e80"
_LETTERS_AN_IDEOGRAPH: Final = 3
"""Chinese, Japanese and Korean say in one character what others say in three letters, or a little less."""

MAX_NODES: Final = 300_000
"""Nodes beyond this are not looked at and the page is marked truncated: about 2 s of work on one core."""

# Elements whose inside is never content. Their text is not counted and their children are not visited.
_OPAQUE: Final = frozenset(
    "script style template svg math head iframe canvas object embed select datalist textarea input audio video"
    " map source track param meta link title base frame frameset applet area".split()
)
_OPAQUE_KEPT: Final = frozenset({"iframe", "svg", "math", "audio", "video", "object", "embed", "canvas"})


@dataclass(slots=True)
class Survey:
    """Flat arrays over the page. Filled once by `survey`, then only read."""

    nodes: list[dom.Node]
    tag: list[str]
    parent: list[int]
    end: list[int]
    """Index behind the last descendant."""
    flags: list[int]
    """What class, id and role say about the element itself (`tokens`)."""
    chars: list[int]
    """Characters of text in the subtree."""
    linked: list[int]
    """Characters of text in the subtree that stand in links."""
    truncated: bool
    too_deep: bool
    """Something below `dom.MAX_DEPTH` was not visited: flatten and survey again."""

    def ancestors(self, index: int) -> list[int]:
        """From the parent up to the root."""
        chain = []
        while index:
            index = self.parent[index]
            chain.append(index)
        return chain


def survey(root: dom.Element) -> Survey:
    """Walk the tree under `root` once.

    Long for a function here, because the inner one is the loop every node of every page goes through: with closed-over
    lists it takes half the time that methods or a stack of our own took.
    """
    nodes: list[dom.Node] = [root]
    tags, parents, ends, flags, chars, linked = [root.tag], [0], [0], [0], [0], [0]
    read, read_id, opaque = class_names.read, class_names.read_id, _OPAQUE
    text_type, element_type = dom.Text, dom.Element
    known: dict[str, int] = {}
    truncated = too_deep = False

    def visit(children: Sequence[dom.Node], index: int, in_link: bool, depth: int) -> None:
        nonlocal truncated, too_deep
        total = total_linked = 0
        for child in children:
            if isinstance(child, text_type):
                data = child.data
                if data.isspace() or not data:
                    continue
                if len(nodes) >= MAX_NODES:
                    truncated = True
                    break
                length = len(data) if data[0] > " " else len(data.strip())
                if not data.isascii() and (data[len(data) // 2] >= _IDEOGRAPHS or data[len(data) // 4] >= _IDEOGRAPHS):
                    length *= _LETTERS_AN_IDEOGRAPH
                nodes.append(child)
                tags.append(TEXT)
                parents.append(index)
                ends.append(len(nodes))
                flags.append(0)
                chars.append(length)
                total += length
                if in_link:
                    linked.append(length)
                    total_linked += length
                else:
                    linked.append(0)
            elif isinstance(child, element_type):
                name = child.tag
                if name in opaque and name not in _OPAQUE_KEPT:
                    continue
                here = len(nodes)
                if here >= MAX_NODES:
                    truncated = True
                    break
                nodes.append(child)
                tags.append(name)
                parents.append(index)
                names = child.attr("class")
                if names:
                    own = known.get(names, -1)
                    if own < 0:
                        own = known[names] = read(names)
                else:
                    own = 0
                if name in _IDENTIFIED and (names := child.attr("id")):
                    own |= read_id(names)
                flags.append(own)
                chars.append(0)
                linked.append(0)
                ends.append(here + 1)
                inner = () if name in opaque else child.children
                if not inner:
                    continue
                if depth > dom.MAX_DEPTH + 1:  # leaves may stand one level below the bound
                    too_deep = True
                    continue
                visit(inner, here, in_link or name == "a", depth + 1)
                total += chars[here]
                total_linked += linked[here]
                if truncated:
                    break
        chars[index], linked[index] = total, total_linked
        ends[index] = len(nodes)

    visit(root.children, 0, False, 1)
    return Survey(nodes, tags, parents, ends, flags, chars, linked, truncated, too_deep)
