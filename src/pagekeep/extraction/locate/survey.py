"""Survey: one walk over the page into flat parallel arrays, and the text measured by block.

The tree is not changed until the content is cut out of it. Index 0 is the root; descendants of `i` are
`i + 1 .. end[i] - 1`, in document order. Text nodes that hold only white space are not listed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from typing import Final

from pagekeep import dom
from pagekeep.dom import Element, Text
from pagekeep.extraction.locate.class_names import find_id_signs, find_signs
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
_UNLISTED: Final = OPAQUE - OPAQUE_LISTED
_CHILDLESS: Final = OPAQUE | {"br", "hr", "img", "wbr"}
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
    places: dict[str, list[int]]
    """The indices of each tag, in document order; those of the text nodes under `TEXT`."""
    flagged: list[int]
    """The indices of the elements with signs, in document order."""
    texts: list[str]
    """What the text nodes hold, in document order: `texts[i]` is what the node at `places[TEXT][i]` holds."""
    controls: list[tuple[int, dom.Element]]
    """Form controls with text, which are not listed, each with the index of its parent."""
    truncated: bool
    too_deep: bool
    """Elements below `dom.MAX_DEPTH` were not visited: flatten the tree and survey it again."""

    def find_nodes(self, elements: Collection[dom.Element]) -> dict[dom.Node, int]:
        """Return the index of each of these elements that is listed."""
        wanted = set(elements)
        tags = {node.tag for node in elements}
        listed = [(self.nodes[index], index) for tag in tags if tag in self.places for index in self.places[tag]]
        return {node: index for node, index in listed if node in wanted}

    def find_tags(self, *tags: str) -> list[int]:
        """Return the indices of the elements with one of these tags, in document order."""
        return sorted([index for tag in tags if tag in self.places for index in self.places[tag]])

    def find_signs(self, signs: int) -> list[int]:
        """Return the indices of the elements with one of these signs, in document order."""
        flags = self.flags
        return [index for index in self.flagged if flags[index] & signs]

    def texts_in(self, first: int, end: int) -> list[str]:
        """Return what the text nodes from one index up to another hold."""
        places = self.places[TEXT]
        return self.texts[bisect_left(places, first) : bisect_left(places, end)]

    def ancestors(self, index: int) -> list[int]:
        """Return the indices from the parent up to the root."""
        chain = []
        while index:
            index = self.parent[index]
            chain.append(index)
        return chain


def count_chars(data: str) -> int:
    """Return how many characters the data of a text node counts for."""
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

    It is one long function because every node of every page goes through it. An element with one text and nothing else, as
    a third of them are, is finished together with its text: to enter and leave it takes as long as to read it.
    """
    nodes: list[dom.Node] = [root]
    tags, parents, ends, flags, chars, linked = [root.tag], [0], [0], [0], [0], [0]
    places: defaultdict[str, list[int]] = defaultdict(list, {TEXT: [], root.tag: [0]})
    text_places, flagged, texts, controls = places[TEXT], list[int](), list[str](), list[tuple[int, Element]]()
    known: dict[str | None, int] = {None: 0}  # signs by class; the cache of all pages is farther away in memory
    truncated = too_deep = in_link = False
    here = 1  # the next index
    index = total = total_linked = 0  # the element whose children are visited, and the characters in it so far
    children = iter(root.children)
    outer: list[tuple[Iterator[dom.Node], int, bool, int, int]] = []  # the same for the elements around it
    while True:
        for child in children:
            owner, is_linked = index, in_link
            if isinstance(child, Element):
                name = child.tag
                if name in _UNLISTED:
                    if name in _CONTROLS:
                        controls.append((index, child))
                    continue
                if truncated := here >= MAX_NODES:
                    break
                nodes.append(child)
                tags.append(name)
                parents.append(index)
                chars.append(0)
                linked.append(0)
                signs = known.get(names := child.attr("class"), -1)
                if signs < 0:
                    signs = known[names] = find_signs(names or "")
                if name in _WITH_LAYOUT_ID and (names := child.attr("id")):
                    signs |= find_id_signs(names)
                flags.append(signs)
                if signs:
                    flagged.append(here)
                places[name].append(here)
                owner, here = here, here + 1
                ends.append(here)
                inner = () if name in _CHILDLESS else child.children
                if not inner:
                    continue
                if len(outer) > dom.MAX_DEPTH:  # leaves may be one level below the bound
                    too_deep = True
                    continue
                is_linked = in_link or name == "a"
                child = inner[0]
                if len(inner) > 1 or not isinstance(child, Text):
                    outer.append((children, index, in_link, total, total_linked))
                    children, index, in_link, total, total_linked = iter(inner), owner, is_linked, 0, 0
                    break
            elif not isinstance(child, Text):
                continue
            data = child.data
            if data.isspace() or not data:
                continue
            if truncated := here >= MAX_NODES:
                break
            length = len(data) if data[0] > " " and data.isascii() else count_chars(data)
            nodes.append(child)
            tags.append(TEXT)
            parents.append(owner)
            flags.append(0)
            chars.append(length)
            text_places.append(here)
            texts.append(data)
            here += 1
            ends.append(here)
            total += length
            in_links = length if is_linked else 0
            linked.append(in_links)
            total_linked += in_links
            if owner != index:  # all that is in the element
                chars[owner], linked[owner], ends[owner] = length, in_links, here
        else:
            chars[index], linked[index], ends[index] = total, total_linked, here
            if not outer:
                break
            children, index, in_link, above, above_linked = outer.pop()
            total, total_linked = above + total, above_linked + total_linked
        if truncated:
            children = iter(())  # the rest is left out
    lists = (nodes, tags, parents, ends, flags, chars, linked)
    return Survey(*lists, dict(places), flagged, texts, controls, truncated, too_deep)


PHRASING: Final = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span"
    " strike strong sub sup time tt u var wbr br".split()
)
"""Elements that are part of a sentence."""
INLINE: Final = PHRASING | {TEXT}


def is_within_line(node: dom.Node) -> bool:
    """Return whether words, or an element among them, are right beside the node."""
    return _is_words(_sibling(node, forward=False)) or _is_words(_sibling(node, forward=True))


def _sibling(node: dom.Node, *, forward: bool) -> dom.Node | None:
    """Return the nearest sibling that shows something."""
    beside = node.next_sibling if forward else node.previous_sibling
    while beside is not None and not isinstance(beside, dom.Element):
        if isinstance(beside, dom.Text) and not beside.data.isspace():
            break
        beside = beside.next_sibling if forward else beside.previous_sibling
    return beside


def _is_words(node: dom.Node | None) -> bool:
    return isinstance(node, dom.Text) or (isinstance(node, dom.Element) and node.tag in PHRASING and node.tag != "br")


def measure_own_text(survey: Survey, *, links: bool = False) -> list[int]:
    """Count the characters in each block itself, not in a block within it; those in links only when `links` is set."""
    tags, parents, linked, chars = survey.tag, survey.parent, survey.linked, survey.chars
    own = [0] * len(tags)
    blocks: dict[int, int] = {}
    for index in survey.places[TEXT]:
        if links or not linked[index]:
            block = parents[index]
            if tags[block] in PHRASING:
                above = parents[block]
                block = (
                    above if tags[above] not in PHRASING else blocks.get(block) or _find_block(survey, block, blocks)
                )
            own[block] += chars[index]
    return own


def _find_block(survey: Survey, index: int, blocks: dict[int, int]) -> int:
    """Find the block around an element within a sentence; `blocks` are those already found, so that none is passed twice."""
    passed: list[int] = []
    while index and survey.tag[index] in PHRASING and index not in blocks:
        passed.append(index)
        index = survey.parent[index]
    block = blocks.get(index, index)
    blocks.update(dict.fromkeys(passed, block))
    return block


def has_no_block(survey: Survey, index: int) -> bool:
    """Return whether an element has only text and inline elements in it."""
    tags = survey.tag
    inner, end = index + 1, survey.end[index]
    while inner < end and tags[inner] in INLINE:
        inner += 1
    return inner == end


def find_blocks(own: Sequence[int], min_chars: int) -> list[int]:
    """Return the indices of the blocks with at least `min_chars` characters, a positive number; most nodes have none."""
    return [index for index in compress(range(len(own)), own) if own[index] >= min_chars]


def sum_blocks(survey: Survey, own: Sequence[int], min_chars: int, dead: bytearray | None = None) -> list[int]:
    """Sum up, for each subtree, the text of its blocks that have at least `min_chars` characters and are not dead."""
    parents = survey.parent
    total = [0] * len(own)
    for index in find_blocks(own, min_chars):
        if not (dead and dead[index]):
            total[index] = own[index]
    for index in range(len(total) - 1, 0, -1):
        if total[index]:
            total[parents[index]] += total[index]
    return total


def find_innermost(survey: Survey, mass: Sequence[int], share: float) -> int:
    """Find the innermost element that still has `share` of the page's mass."""
    tags, ends = survey.tag, survey.end
    root, min_mass = 0, share * mass[0]
    while True:
        child, end = root + 1, ends[root]
        while child < end and (mass[child] < min_mass or tags[child] == TEXT or not mass[child]):
            child = ends[child]
        if child >= end:
            return root
        root = child
