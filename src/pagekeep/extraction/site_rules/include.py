"""Parts of the page that a rule wants in the result, put back where they stood.

Where that is, is told by text: what stands before and behind a part in the page is looked up in the result, however the
extractor cut, opened or rebuilt what is around it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.prune import cut
from pagekeep.extraction.site_rules.select import found, outermost

MOST: Final = 200
"""Parts put back at most."""
_NEAR: Final = 40
"""Neighbours on each side that are looked for."""
_HEADINGS: Final = 20
_STEPS: Final = 400
"""Blocks passed on the way to those neighbours, most of which hold other blocks."""
_TELLING: Final = 20
"""Characters from which on the same text twice is taken for a copy."""
_ALIKE: Final = 0.6
_WORDS: Final = 60
_COMPARED: Final = 1_000
_FEWEST_WORDS: Final = 5

_HEADING_TAGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS: Final = (
    "p, h1, h2, h3, h4, h5, h6, li, dt, dd, blockquote, pre, figcaption, caption, td, th, summary, address,"
    " div, section, article, main, aside, header, footer, figure, details, ul, ol, dl, table, tr, center, img"
)
_MEDIA: Final = "img, video, audio, iframe, object, embed, svg, math, picture"
# What holds parts of its own kind alone, and the parts that may be put into it.
_PARTS: Final = {
    **dict.fromkeys(("ul", "ol"), frozenset({"li"})),
    "dl": frozenset({"dt", "dd"}),
    **dict.fromkeys(("thead", "tbody", "tfoot"), frozenset({"tr"})),
    "table": frozenset({"tr", "thead", "tbody", "tfoot", "caption"}),
    "tr": frozenset({"td", "th"}),
    **dict.fromkeys(("p", "pre", "a", "span", "em", "strong", *_HEADING_TAGS), frozenset({"span", "a", "img"})),
}

Side = Literal["after", "before"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A neighbour of a part: what it says, and how many levels above it stands what is beside the part."""

    key: str
    levels: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part to be put back."""

    node: dom.Element
    """A copy made before any rule changed the page."""
    live: dom.Element
    """The part itself, in the page."""
    rule_id: str
    selector: str
    before: tuple[Anchor, ...]
    """What precedes it, nearest first."""
    behind: tuple[Anchor, ...]
    headings: tuple[Anchor, ...]
    """Headings above it, nearest first."""


def gather(body: dom.Element, wanted: Iterable[tuple[str, str]]) -> tuple[Part, ...]:
    """The outermost parts that the selectors find, in document order. `wanted` pairs a rule's id with its selector."""
    good = [(rule_id, selector) for rule_id, selector in wanted if found(body, selector)]
    if not good:
        return ()
    css = ", ".join(selector for _, selector in good)
    parts = list(outermost(dom.select(body, css), css))[:MOST]
    page = _Neighbourhood(dom.select(body, f"{_BLOCKS}, {css}"), parts)
    return tuple(_part(node, page, *_asked_by(node, good)) for node in parts)


def _asked_by(node: dom.Element, wanted: Sequence[tuple[str, str]]) -> tuple[str, str]:
    return next((pair for pair in wanted if dom.matches(node, pair[1])), wanted[-1])


def _part(node: dom.Element, page: _Neighbourhood, rule_id: str, selector: str) -> Part:
    above = page.anchors(node, -1)
    return Part(
        node=dom.copy(node),
        live=node,
        rule_id=rule_id,
        selector=selector,
        before=tuple(above),
        behind=tuple(page.anchors(node, 1)),
        headings=tuple(page.headings(node)),
    )


class _Neighbourhood:
    """The blocks of the page in order, to walk away from a part in both directions."""

    def __init__(self, blocks: list[dom.Element], parts: list[dom.Element]) -> None:
        self.blocks = blocks
        self.place = {node: index for index, node in enumerate(blocks)}
        self.heads = [index for index, node in enumerate(blocks) if node.tag in _HEADING_TAGS]
        self.owner = {inner: f"\0{number}" for number, part in enumerate(parts) for inner in (part, *_elements(part))}

    def anchors(self, part: dom.Element, step: Literal[-1, 1]) -> Iterator[Anchor]:
        around = _around(part)
        own, last, count = self.owner[part], "", 0
        start = self.place[part]
        for index in range(start + step, start + step * _STEPS, step):
            if not 0 <= index < len(self.blocks) or count == _NEAR:
                return
            block = self.blocks[index]
            owner = self.owner.get(block)
            if owner == own or block in around or (owner and owner == last):
                continue
            last = owner or ""
            key = owner or _key(block)
            if key:
                count += 1
                yield Anchor(key, _levels(block, around))

    def headings(self, part: dom.Element) -> Iterator[Anchor]:
        around = _around(part)
        above = bisect_left(self.heads, self.place[part])
        for index in reversed(self.heads[max(0, above - _HEADINGS) : above]):
            block = self.blocks[index]
            if block not in self.owner and (key := _key(block)):
                yield Anchor(key, _levels(block, around))


def _elements(node: dom.Element) -> list[dom.Element]:
    return dom.select(node, "*")


def _around(node: dom.Node) -> set[dom.Node]:
    """All that the node stands in."""
    around: set[dom.Node] = set()
    above = node.parent
    while above is not None:
        around.add(above)
        above = above.parent
    return around


def _levels(block: dom.Node, around: set[dom.Node]) -> int:
    """How far above the block stands what is a sibling of the part, or of something around it."""
    levels, above = 0, block.parent
    while above is not None and above not in around:
        levels, above = levels + 1, above.parent
    return levels


def _key(block: dom.Element) -> str:
    """What an innermost block says, or an image shows; nothing for what holds other blocks."""
    if block.tag == "img":
        return f"\1{block.attr('src') or block.attr('data-src') or ''}".rstrip("\1")
    if dom.first(block, _BLOCKS) is not None:
        return ""
    return " ".join(dom.text_of(block).split())


def drop_copies(content: dom.Element, parts: tuple[dom.Element, ...]) -> None:
    """Take from parts that stand in the content what it says elsewhere, too."""
    if not parts:
        return
    inside = {inner for part in parts for inner in (part, *_elements(part))}
    blocks = [(block, key) for block in dom.select(content, _BLOCKS) if _is_telling(key := _key(block))]
    said = {key for block, key in blocks if block not in inside}
    for block, key in blocks:
        if block in inside and key in said:
            dom.drop(block)


def put_back(content: dom.Element, parts: tuple[Part, ...], removed: Iterable[str]) -> list[str]:
    """Put the parts into the content in their order, without what rules remove; says of each where it went."""
    result = _Result(content)
    selectors = [selector for selector in removed if found(content, selector) is not None]
    return [result.take(f"\0{number}", part, selectors) for number, part in enumerate(parts)]


class _Result:
    """The content while parts are put into it."""

    def __init__(self, content: dom.Element) -> None:
        self.content = content
        self.blocks = [(key, block) for block in dom.select(content, _BLOCKS) if (key := _key(block))]
        self.keys = {key for key, _ in self.blocks if _is_telling(key)}
        self.by_key: dict[str, dom.Element | None] = {}
        for key, block in self.blocks:
            self.by_key[key] = None if key in self.by_key else block  # what stands twice tells no place

    def take(self, name: str, part: Part, removed: list[str]) -> str:
        node = part.node
        for selector in removed:
            for inner in dom.select(node, selector):
                dom.drop(inner)
        if not self._without_what_is_there(node):
            return "already there"
        cut.unfold(dom.element("div", None, node))  # it may be hidden itself
        where = self._place(part)
        if where is None:
            dom.append(self.content, node)
        else:
            _put(self.content, node, *where[1:])
        self.by_key[name] = node
        self.keys.update(filter(_is_telling, (_key(block) for block in (node, *dom.select(node, _BLOCKS)))))
        return where[0] if where else "at the end"

    def _without_what_is_there(self, node: dom.Element) -> bool:
        """Drop from the part what the result already holds; whether anything is left."""
        if _key(node) in self.keys:
            return False
        for block in dom.select(node, _BLOCKS):
            if _key(block) in self.keys:
                dom.drop(block)
        return bool(dom.text_of(node).strip()) or node.tag in _MEDIA.split(", ") or dom.first(node, _MEDIA) is not None

    def _place(self, part: Part) -> tuple[str, dom.Element, int, Side] | None:
        near = [
            (distance, side, block, anchor.levels)
            for side, anchors in ((0, part.before), (1, part.behind))
            for distance, anchor in enumerate(anchors)
            if (block := self.by_key.get(anchor.key)) is not None
        ]
        if near:
            _, side, block, levels = min(near, key=lambda found: found[:2])
            return "where it stood", block, levels, "before" if side else "after"
        alike = self._alike(part)
        if alike is not None:
            return "by similar text", alike[0], 0, alike[1]
        for anchor in part.headings:
            heading = self.by_key.get(anchor.key)
            if heading is not None:
                return "below its heading", heading, anchor.levels, "after"
        return None

    def _alike(self, part: Part) -> tuple[dom.Element, Side] | None:
        """The block most like what is beside the part, or that says what the part says (as a pull quote does)."""
        own = _words(dom.text_of(part.node))
        beside: list[tuple[set[str], Side]] = [
            *((_words(anchor.key), "after") for anchor in part.before[:3]),
            *((_words(anchor.key), "before") for anchor in part.behind[:3]),
        ]
        best, found = _ALIKE, None
        for key, block in self.blocks[:_COMPARED]:
            words = _words(key)
            if len(words) < _FEWEST_WORDS:
                continue
            likeness = [(len(words & other) / len(words | other), side) for other, side in beside if other]
            if len(own) >= _FEWEST_WORDS:
                likeness.append((len(words & own) / len(own), "after"))
            for value, side in likeness:
                if value > best:
                    best, found = value, (block, side)
        return found


def _is_telling(key: str) -> bool:
    return len(key) >= _TELLING or key.startswith("\1")


def _words(text: str) -> set[str]:
    return set(text.lower().split()[:_WORDS])


def _put(content: dom.Element, node: dom.Element, block: dom.Element, levels: int, side: Side) -> None:
    """Beside the block or what it stands in, as many levels up, and never between the lines of a list or a paragraph."""
    place: dom.Node = block
    for above in _up_to(content, block):
        if levels <= 0 and node.tag in _PARTS.get(above.tag, (node.tag,)):
            break
        place, levels = above, levels - 1
    if side == "after":
        dom.add_after(place, node)
    else:
        dom.add_before(place, node)


def _up_to(content: dom.Element, node: dom.Node) -> Iterator[dom.Element]:
    above = node.parent
    while isinstance(above, dom.Element) and above is not content:
        yield above
        above = above.parent
