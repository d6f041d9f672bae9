"""Run the selectors of rules: remove what they name, and keep the parts that they include."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from pagekeep import dom
from pagekeep import text as words
from pagekeep.extraction.locate.exclusions import Exclusions
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import HEADINGS, Survey
from pagekeep.extraction.prune import cut
from pagekeep.extraction.steps import element_name
from pagekeep.model import Removal, RuleEffect
from pagekeep.rules.rulebook import Names
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
    owners = [next((selector for selector in valid if dom.matches(node, selector)), valid[-1]) for node in nodes]
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


def _sum_words(words: list[int], owners: list[str], selector: str) -> int:
    return sum(count for count, owner in zip(words, owners, strict=True) if owner == selector)


MAX_PARTS: Final = 200
"""Parts put back; a bound against hostile pages."""
_MAX_ANCHORS: Final = 40
"""Neighbours on each side that are looked up."""
_MAX_HEADINGS: Final = 20
"""Headings above the part that are looked up."""
_MAX_BLOCKS: Final = 400
"""Blocks passed on the way to those neighbours, most of which only contain other blocks."""
_MIN_COPY_CHARS: Final = 20
"""A text of this many characters that occurs twice is a copy; shorter ones may repeat by chance."""
_MIN_SIMILARITY: Final = 0.6
"""Share of common words of two blocks that are taken for the same."""
_COMPARED_WORDS: Final = 60
"""Words at the start of a block that are compared."""
_COMPARED_BLOCKS: Final = 1_000
_MIN_WORDS: Final = 5
"""Blocks with fewer words are similar by chance."""
_SIMILAR_ANCHORS: Final = 3
"""Nearest neighbours on each side that are compared."""

_BLOCKS: Final = (
    "p, h1, h2, h3, h4, h5, h6, li, dt, dd, blockquote, pre, figcaption, caption, td, th, summary, address,"
    " div, section, article, main, aside, header, footer, figure, details, ul, ol, dl, table, tr, center, img"
)
_MEDIA: Final = "img, video, audio, iframe, object, embed, svg, math, picture"
# Elements that may contain only certain children.
_ALLOWED_CHILDREN: Final = {
    **dict.fromkeys(("ul", "ol"), frozenset({"li"})),
    "dl": frozenset({"dt", "dd"}),
    **dict.fromkeys(("thead", "tbody", "tfoot"), frozenset({"tr"})),
    "table": frozenset({"tr", "thead", "tbody", "tfoot", "caption"}),
    "tr": frozenset({"td", "th"}),
    **dict.fromkeys(("p", "pre", "a", "span", "em", "strong", *HEADINGS), frozenset({"span", "a", "img"})),
}

Side = Literal["after", "before"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A neighbour of a part: its text, and how many levels above it its ancestor is a sibling of the part."""

    key: str
    levels: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part to put back."""

    node: dom.Element
    """A copy made before any rule changed the page."""
    live: dom.Element
    """The part itself, in the page."""
    rule_id: str
    selector: str
    before: tuple[Anchor, ...]
    """Neighbours before it, nearest first."""
    after: tuple[Anchor, ...]
    """Neighbours after it, nearest first."""
    headings: tuple[Anchor, ...]
    """Headings above it, nearest first."""


def collect_parts(body: dom.Element, selectors: Iterable[tuple[str, str]]) -> tuple[Part, ...]:
    """Return the outermost matches in document order; `selectors` are pairs of a rule's id and a selector."""
    matching = [(rule_id, selector) for rule_id, selector in selectors if select_all(body, selector)]
    if not matching:
        return ()
    css = ", ".join(selector for _, selector in matching)
    parts = list(outermost(dom.select(body, css), css))[:MAX_PARTS]
    page = _Neighbourhood(dom.select(body, f"{_BLOCKS}, {css}"), parts)
    return tuple(_make_part(node, page, *_included_by(node, matching)) for node in parts)


def _included_by(node: dom.Element, selectors: Sequence[tuple[str, str]]) -> tuple[str, str]:
    return next((pair for pair in selectors if dom.matches(node, pair[1])), selectors[-1])


def _make_part(node: dom.Element, page: _Neighbourhood, rule_id: str, selector: str) -> Part:
    return Part(
        node=dom.copy(node),
        live=node,
        rule_id=rule_id,
        selector=selector,
        before=tuple(page.anchors(node, -1)),
        after=tuple(page.anchors(node, 1)),
        headings=tuple(page.headings(node)),
    )


class _Neighbourhood:
    """The blocks of the page in order, for finding the neighbours of a part in both directions."""

    def __init__(self, blocks: list[dom.Element], parts: list[dom.Element]) -> None:
        self.blocks = blocks
        self.position = {node: index for index, node in enumerate(blocks)}
        self.heading_indexes = [index for index, node in enumerate(blocks) if node.tag in HEADINGS]
        self.owner = {inner: f"\0{number}" for number, part in enumerate(parts) for inner in (part, *_elements(part))}

    def anchors(self, part: dom.Element, step: Literal[-1, 1]) -> Iterator[Anchor]:
        ancestors = _ancestors(part)
        own, last, count = self.owner[part], "", 0
        start = self.position[part]
        for index in range(start + step, start + step * _MAX_BLOCKS, step):
            if not 0 <= index < len(self.blocks) or count == _MAX_ANCHORS:
                return
            block = self.blocks[index]
            owner = self.owner.get(block)
            if owner == own or block in ancestors or (owner and owner == last):
                continue
            last = owner or ""
            key = owner or _key(block)
            if key:
                count += 1
                yield Anchor(key, _levels(block, ancestors))

    def headings(self, part: dom.Element) -> Iterator[Anchor]:
        ancestors = _ancestors(part)
        above = bisect_left(self.heading_indexes, self.position[part])
        for index in reversed(self.heading_indexes[max(0, above - _MAX_HEADINGS) : above]):
            block = self.blocks[index]
            if block not in self.owner and (key := _key(block)):
                yield Anchor(key, _levels(block, ancestors))


def _elements(node: dom.Element) -> list[dom.Element]:
    return dom.select(node, "*")


def _ancestors(node: dom.Node) -> set[dom.Node]:
    """Return the ancestors of the node."""
    ancestors: set[dom.Node] = set()
    above = node.parent
    while above is not None:
        ancestors.add(above)
        above = above.parent
    return ancestors


def _levels(block: dom.Node, ancestors: set[dom.Node]) -> int:
    """Return how many levels above the block its ancestor is a sibling of the part or of an ancestor of the part."""
    levels, above = 0, block.parent
    while above is not None and above not in ancestors:
        levels, above = levels + 1, above.parent
    return levels


def _key(block: dom.Element) -> str:
    """Return the text of an innermost block or the address of an image; empty for a block with other blocks."""
    if block.tag == "img":
        return f"\1{block.attr('src') or block.attr('data-src') or ''}".rstrip("\1")
    if dom.first(block, _BLOCKS) is not None:
        return ""
    return " ".join(dom.text_of(block).split())


def drop_copies(content: dom.Element, parts: tuple[dom.Element, ...]) -> None:
    """Remove from the parts in the content what also occurs elsewhere in it."""
    if not parts:
        return
    inside = {inner for part in parts for inner in (part, *_elements(part))}
    blocks = [(block, key) for block in dom.select(content, _BLOCKS) if _is_distinctive(key := _key(block))]
    outside = {key for block, key in blocks if block not in inside}
    for block, key in blocks:
        if block in inside and key in outside:
            dom.drop(block)


def put_back(content: dom.Element, parts: tuple[Part, ...], removed: Iterable[str]) -> list[str]:
    """Put the parts into the content in order, without what rules remove; return where each one went."""
    result = _Result(content)
    selectors = [selector for selector in removed if select_all(content, selector) is not None]
    return [result.insert(f"\0{number}", part, selectors) for number, part in enumerate(parts)]


class _Result:
    """The content that parts are put into."""

    def __init__(self, content: dom.Element) -> None:
        self.content = content
        self.blocks = [(key, block) for block in dom.select(content, _BLOCKS) if (key := _key(block))]
        self.keys = {key for key, _ in self.blocks if _is_distinctive(key)}
        self.by_key: dict[str, dom.Element | None] = {}
        for key, block in self.blocks:
            self.by_key[key] = None if key in self.by_key else block  # text that occurs twice has no unique position

    def insert(self, name: str, part: Part, removed: list[str]) -> str:
        node = part.node
        for selector in removed:
            for inner in dom.select(node, selector):
                dom.drop(inner)
        if not self._remove_duplicates(node):
            return "already there"
        cut.unfold(dom.element("div", None, node))  # the part itself may be hidden
        where = self._find_place(part)
        if where is None:
            dom.append(self.content, node)
        else:
            _insert_beside(self.content, node, *where[1:])
        self.by_key[name] = node
        self.keys.update(filter(_is_distinctive, (_key(block) for block in (node, *dom.select(node, _BLOCKS)))))
        return where[0] if where else "at the end"

    def _remove_duplicates(self, node: dom.Element) -> bool:
        """Remove from the part what the result already contains; return whether anything is left."""
        if _key(node) in self.keys:
            return False
        for block in dom.select(node, _BLOCKS):
            if _key(block) in self.keys:
                dom.drop(block)
        return bool(dom.text_of(node).strip()) or node.tag in _MEDIA.split(", ") or dom.first(node, _MEDIA) is not None

    def _find_place(self, part: Part) -> tuple[str, dom.Element, int, Side] | None:
        near = [
            (distance, side, block, anchor.levels)
            for side, anchors in ((0, part.before), (1, part.after))
            for distance, anchor in enumerate(anchors)
            if (block := self.by_key.get(anchor.key)) is not None
        ]
        if near:
            _, side, block, levels = min(near, key=lambda place: place[:2])
            return "where it stood", block, levels, "before" if side else "after"
        similar = self._find_similar(part)
        if similar is not None:
            return "by similar text", similar[0], 0, similar[1]
        for anchor in part.headings:
            heading = self.by_key.get(anchor.key)
            if heading is not None:
                return "below its heading", heading, anchor.levels, "after"
        return None

    def _find_similar(self, part: Part) -> tuple[dom.Element, Side] | None:
        """Return the block most similar to the part's neighbours, or one with the part's own text (of a pull quote)."""
        own = _words(dom.text_of(part.node))
        neighbours: list[tuple[set[str], Side]] = [
            *((_words(anchor.key), "after") for anchor in part.before[:_SIMILAR_ANCHORS]),
            *((_words(anchor.key), "before") for anchor in part.after[:_SIMILAR_ANCHORS]),
        ]
        best, place = _MIN_SIMILARITY, None
        for key, block in self.blocks[:_COMPARED_BLOCKS]:
            words = _words(key)
            if len(words) < _MIN_WORDS:
                continue
            similarities = [(len(words & other) / len(words | other), side) for other, side in neighbours if other]
            if len(own) >= _MIN_WORDS:
                similarities.append((len(words & own) / len(own), "after"))
            for value, side in similarities:
                if value > best:
                    best, place = value, (block, side)
        return place


def _is_distinctive(key: str) -> bool:
    return len(key) >= _MIN_COPY_CHARS or key.startswith("\1")


def _words(text: str) -> set[str]:
    return set(text.lower().split()[:_COMPARED_WORDS])


def _insert_beside(content: dom.Element, node: dom.Element, block: dom.Element, levels: int, side: Side) -> None:
    """Insert the node beside the block or its ancestor `levels` up, never inside an element that does not allow it."""
    place: dom.Node = block
    for above in ancestors_within(content, block):
        if levels <= 0 and node.tag in _ALLOWED_CHILDREN.get(above.tag, (node.tag,)):
            break
        place, levels = above, levels - 1
    if side == "after":
        dom.add_after(place, node)
    else:
        dom.add_before(place, node)


def ancestors_within(content: dom.Element, node: dom.Node) -> Iterator[dom.Element]:
    """Yield the ancestors from the parent up, without the content's root."""
    above = node.parent
    while isinstance(above, dom.Element) and above is not content:
        yield above
        above = above.parent


_HIDDEN_BY_CLASS: Final = ".visually-hidden, .visuallyhidden, .sr-only, .screen-reader-text, .d-none, .hidden"


@dataclass(frozen=True, slots=True)
class Kept:
    """A part inside the content."""

    part: Part
    saved: bool
    """Whether it, or something in it, would have been dropped."""


def find_in_place(survey: Survey, content: Content, parts: tuple[Part, ...]) -> tuple[Content, tuple[Kept, ...]]:
    """Return the content with all parts that are inside it, and those parts."""
    if content.made is not None:
        return content, ()
    by_node = {part.live: part for part in parts}
    excluded = dict(content.excluded)
    kept: list[Kept] = []
    for index in range(content.root + 1, survey.end[content.root]):
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and (part := by_node.get(node)):
            saved = _split_exclusions(survey, excluded, index, content.root)
            _show(survey, index, content.root)
            kept.append(Kept(part, _keep_inside(survey, excluded, index) or saved))
    return replace(content, excluded=excluded), tuple(kept)


def _show(survey: Survey, part: int, root: int) -> None:
    """Remove classes that hide the part or an element around it: cleaning would drop it."""
    index = part
    while index != root:
        node = survey.nodes[index]
        if isinstance(node, dom.Element) and node.attr("class") and dom.matches(node, _HIDDEN_BY_CLASS):
            dom.set_attr(node, "class", None)
        index = survey.parent[index]


def _keep_inside(survey: Survey, excluded: Exclusions, part: int) -> bool:
    """Exclude nothing inside the part; return whether anything was excluded."""
    inside = [index for index in range(part + 1, survey.end[part]) if index in excluded]
    for index in inside:
        del excluded[index]
    return bool(inside)


def _split_exclusions(survey: Survey, excluded: Exclusions, part: int, root: int) -> bool:
    """Replace exclusions around the part by ones of everything beside the path to it; return whether it was excluded."""
    path = [part]
    while path[-1] != root:
        path.append(survey.parent[path[-1]])
    on_path = set(path)
    for index in reversed(path):
        exclusion = excluded.pop(index, None)
        if exclusion is None:
            continue
        if index == part:
            return True
        child = index + 1
        while child < survey.end[index]:
            if child in on_path:
                excluded.setdefault(child, exclusion)
            else:
                excluded[child] = exclusion
            child = survey.end[child]
    return False
