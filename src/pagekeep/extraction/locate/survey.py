"""Survey: one walk over the page into flat parallel arrays, so that every later decision is arithmetic on lists.

The tree is not changed until the content is cut out of it. Index 0 is the root; descendants of `i` are
`i + 1 .. end[i] - 1`, in document order. Text nodes that hold only white space are not listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import class_names
from pagekeep.model import PageWarning
from pagekeep.values import dataclass

TEXT: Final = "#text"

# Elements whose id names a part of the layout. On headings, sections and list items the id is a slug of their text.
_WITH_LAYOUT_ID: Final = frozenset("div ul ol aside nav form footer header table center dialog article".split())

_IDEOGRAPHS: Final = "\u2e80"
"""Start of the CJK blocks in Unicode."""
_LETTERS_PER_IDEOGRAPH: Final = 3
"""One Chinese, Japanese or Korean character carries about as much text as three letters, or a little less."""

MAX_NODES: Final = 300_000
"""Nodes beyond this are ignored and the page is marked as truncated: about 2 s of work on one core."""

# Elements whose text is never content: it is not counted, and their children are not visited.
OPAQUE: Final = frozenset(
    "script style template svg math head iframe canvas object embed select datalist textarea input audio video"
    " map source track param meta link title base frame frameset applet area".split()
)
# Those of them that are listed all the same, because they may be kept, and those whose text is lost with them.
OPAQUE_LISTED: Final = frozenset({"iframe", "svg", "math", "audio", "video", "object", "embed", "canvas"})
_CONTROLS: Final = frozenset({"select", "textarea"})


@dataclass(slots=True)
class Survey:
    """Flat arrays over the page. Filled once by `survey`, then only read."""

    nodes: list[dom.Node]
    tag: list[str]
    parent: list[int]
    end: list[int]
    """Index after the last descendant."""
    flags: list[int]
    """Signs in the class and id of the element itself (`class_names.Sign`)."""
    chars: list[int]
    """Characters of text in the subtree."""
    linked: list[int]
    """Characters of text in the subtree that are in links."""
    controls: list[tuple[int, dom.Element]]
    """Form controls with text, which are not listed, each with the index of its parent."""
    truncated: bool
    too_deep: bool
    """Elements below `dom.MAX_DEPTH` were not visited: flatten the tree and survey it again."""

    def ancestors(self, index: int) -> list[int]:
        """Return the indices from the parent up to the root."""
        chain = []
        while index:
            index = self.parent[index]
            chain.append(index)
        return chain


def count_chars(data: str) -> int:
    """Return how many characters the data of a text node counts for; `survey` has the same rule inline."""
    if data.isspace() or not data:
        return 0
    length = len(data) if data[0] > " " else len(data.strip())
    # Two samples tell the script: the middle, and the first quarter where the middle is a number or a name.
    if not data.isascii() and max(data[len(data) // 2], data[len(data) // 4]) >= _IDEOGRAPHS:
        length *= _LETTERS_PER_IDEOGRAPH
    return length


def survey_page(root: dom.Element) -> tuple[Survey, tuple[PageWarning, ...]]:
    """Survey a tree, after flattening deep nesting, and cut off what is beyond the limit of nodes."""
    warnings: list[PageWarning] = []
    surveyed = survey(root)
    if surveyed.too_deep:
        flattened = dom.bound_depth(root)
        text = f"nested too deep: {flattened} elements were flattened, no text was lost"
        warnings.append(PageWarning("flattened", text))
        surveyed = survey(root)
    if surveyed.truncated:
        dom.drop_after(surveyed.nodes[-1])
        text = f"truncated: the page has more than {MAX_NODES} nodes, the rest was left out"
        warnings.append(PageWarning("truncated", text))
    return surveyed, tuple(warnings)


def survey(root: dom.Element) -> Survey:
    """Walk the tree under `root` once.

    It is one long function because every node of every page goes through the inner one: with closed-over lists it takes
    half the time of methods or of an explicit stack.
    """
    nodes: list[dom.Node] = [root]
    tags, parents, ends, flags, chars, linked = [root.tag], [0], [0], [0], [0], [0]
    find_signs, find_id_signs, opaque = class_names.find_signs, class_names.find_id_signs, OPAQUE
    text_type, element_type = dom.Text, dom.Element
    controls: list[tuple[int, dom.Element]] = []
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
                # Two samples tell the script: the middle, and the first quarter where the middle is a number or a name.
                if not data.isascii() and (data[len(data) // 2] >= _IDEOGRAPHS or data[len(data) // 4] >= _IDEOGRAPHS):
                    length *= _LETTERS_PER_IDEOGRAPH
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
                if name in opaque and name not in OPAQUE_LISTED:
                    if name in _CONTROLS:
                        controls.append((index, child))
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
                        own = known[names] = find_signs(names)
                else:
                    own = 0
                if name in _WITH_LAYOUT_ID and (names := child.attr("id")):
                    own |= find_id_signs(names)
                flags.append(own)
                chars.append(0)
                linked.append(0)
                ends.append(here + 1)
                inner = () if name in opaque else child.children
                if not inner:
                    continue
                if depth > dom.MAX_DEPTH + 1:  # leaves may be one level below the bound
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
    return Survey(nodes, tags, parents, ends, flags, chars, linked, controls, truncated, too_deep)
