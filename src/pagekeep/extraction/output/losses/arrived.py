"""What the page held when it arrived, and which of it belongs to the content that was cut out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal, NamedTuple

from pagekeep import dom
from pagekeep.extraction.clean.math.formulas import find_formulas
from pagekeep.extraction.clean.math.pictures import find_image_source
from pagekeep.extraction.clean.vocabulary import ancestors

StructureKind = Literal["code blocks", "tables", "lists", "images", "math"]

KINDS: Final[dict[str, StructureKind]] = {
    "pre": "code blocks",
    "table": "tables",
    "ul": "lists",
    "ol": "lists",
    "img": "images",
}
"""The structures that are found by their tag; formulas have many forms."""
_WITHOUT_TEXT: Final = ("images", "math")
_FORMULAS: Final = ("math", "mjx-container", "script", "tex-math", "mml:math", "m:math")
_LANDMARKS: Final = ("p", "h1", "h2", "h3", "h4", "h5", "h6")
"""Elements that show where on the page something was."""
_RECORDED: Final = (*KINDS, *_FORMULAS, *_LANDMARKS)
_FORMULA_LEVELS: Final = 4
"""Levels between a formula and a drawing of it."""
_START_CHARS: Final = 160
"""Characters, without white space, from which a structure that was taken apart is recognised."""
_READ_CHARS: Final = 4 * _START_CHARS
"""Characters that are read for them: code and tables are indented."""
_MAX_CHARS: Final = 20_000_000
"""Characters of text in the content's structures together: nested ones are read several times, which is bounded here."""


class Structure(NamedTuple):
    """A code block, table, list, image or formula of the page."""

    kind: StructureKind
    node: dom.Element
    parent: dom.Node | None
    """The element that it was in."""
    start: str = ""
    """Of a formula its TeX; of others the beginning of the text without white space, once they are cut out."""

    @property
    def is_intact(self) -> bool:
        """Return whether its content is still in it, wherever it is now; it is not when it was taken apart."""
        return self.kind == "images" or bool(dom.text_of(self.node).strip())


class Arrived(NamedTuple):
    """The structures of the page as it arrived."""

    structures: list[Structure]
    order: list[dom.Element]
    """They, paragraphs and headings in document order."""


class Expected(NamedTuple):
    """The structures that belong to the content, which must be in the result."""

    structures: list[Structure]
    vanished: list[Structure]
    """Those of them that were gone before the content was cut out, though no step recorded a removal."""
    is_complete: bool
    """Whether all of them were looked at, whatever their number and length."""


def squeeze(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


def record(body: dom.Element) -> Arrived:
    """Note all structures of the page. Call it before anything changes the page."""
    order = dom.tagged(body, _RECORDED)
    structures: list[Structure] = []
    may_have_formulas = False
    for node in order:
        kind = KINDS.get(node.tag)
        if kind is not None:
            structures.append(Structure(kind, node, node.parent))
            if kind == "images" and not may_have_formulas:
                may_have_formulas = find_image_source(node) is not None
        elif node.tag in _FORMULAS and (node.tag != "script" or (node.attr("type") or "").startswith("math/")):
            may_have_formulas = True
    if may_have_formulas:
        structures = _with_formulas(body, structures)
    return Arrived(structures, order)


def _with_formulas(body: dom.Element, structures: list[Structure]) -> list[Structure]:
    """Return the structures with formulas; images that are part of a formula are left out."""
    formulas = {node: squeeze(tex) for node, tex in find_formulas(body)}
    found = [Structure("math", node, node.parent, tex) for node, tex in formulas.items()]
    for structure in structures:
        node = structure.node
        if node.tag == "img" and any(above in formulas for above in ancestors(node, _FORMULA_LEVELS)):
            continue
        tex = find_image_source(node) if node.tag == "img" else None
        found.append(Structure("math", node, structure.parent, squeeze(tex)) if tex else structure)
    return found


def expect(arrived: Arrived, content: dom.Element, root: dom.Node, removed: Collection[dom.Node]) -> Expected:
    """Return which structures belong to the content.

    `content` is what was cut out, `root` the element it was cut out of, and `removed` what was removed from the page with a
    reason: navigation, share bars, what rules remove. A formula stays expected when it was hidden or removed by a rule,
    because some sites show only a drawing of it.
    """
    cut_out = set(dom.tagged(content, tuple(KINDS)))
    attached = set(dom.tagged(top_of(root), tuple(KINDS)))
    tops: dict[dom.Node, dom.Node] = {}
    surroundings = _Surroundings(arrived.order, content, tops)
    expected: list[Structure] = []
    vanished: list[Structure] = []
    chars_left = _MAX_CHARS
    for structure in arrived.structures:
        node = structure.node
        if node in cut_out:
            text = dom.text_of(node) if structure.kind != "images" and chars_left > 0 else ""
            chars_left -= len(text)
            if structure.kind in _WITHOUT_TEXT:
                expected.append(structure)
            elif start := squeeze(text[:_READ_CHARS])[:_START_CHARS]:  # else all of it was removed with a reason
                expected.append(structure._replace(start=start))
        elif node not in attached:
            top = _find_top(node, tops)
            if top is content:
                expected.append(structure)
            elif _is_vanished(structure, top, removed) and _was_in(structure, content, root, surroundings):
                vanished.append(structure)
    return Expected(expected, vanished, chars_left > 0)


def _is_vanished(structure: Structure, top: dom.Node, removed: Collection[dom.Node]) -> bool:
    """Return whether a structure that is no longer on the page was not removed on purpose, nor only taken apart."""
    return top not in removed and not isinstance(top, dom.Document) and structure.is_intact


def _find_top(node: dom.Node, tops: dict[dom.Node, dom.Node]) -> dom.Node:
    """Return the outermost node around this one; `tops` are those already found, so that no node is passed twice."""
    passed = [node]
    while (above := node.parent) is not None:
        if (known := tops.get(above)) is not None:
            node = known
            break
        passed.append(above)
        node = above
    tops.update(dict.fromkeys(passed, node))
    return node


class _Surroundings:
    """What was around each structure on the page, found for all of them at once when it is first asked for."""

    def __init__(self, order: list[dom.Element], content: dom.Element, tops: dict[dom.Node, dom.Node]) -> None:
        self._order = order
        self._content = content
        self._tops = tops
        self._between: set[dom.Node] | None = None

    def are_content(self, node: dom.Element) -> bool:
        """Return whether the nearest elements before and after this one that are still somewhere are in the content."""
        if self._between is None:
            self._between = self._follow(self._order) & self._follow(reversed(self._order))
        return node in self._between

    def _follow(self, nodes: Iterable[dom.Element]) -> set[dom.Node]:
        """Return the nodes which come after one of the content, with nothing of the rest of the page between them."""
        following: set[dom.Node] = set()
        in_content = False
        for node in nodes:
            if in_content:
                following.add(node)
            top = _find_top(node, self._tops)
            if top is self._content:
                in_content = True
            elif isinstance(top, dom.Document):
                in_content = False
        return following


def _was_in(structure: Structure, content: dom.Element, root: dom.Node, surroundings: _Surroundings) -> bool:
    """Return whether the structure was in the content: within it, or between two of its elements."""
    above: dom.Node | None = structure.parent
    while above is not None:
        if above is content or above is root:
            return True
        if isinstance(above, dom.Document):
            return False
        above = above.parent
    return surroundings.are_content(structure.node)


def top_of(node: dom.Node) -> dom.Node:
    while node.parent is not None:
        node = node.parent
    return node
