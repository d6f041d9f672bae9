"""What the page held when it arrived, and which of it belongs to the content that was cut out."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.clean.math.formulas import find_formulas, find_image_source
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
_FORMULAS: Final = ("math", "mjx-container", "script")
_LANDMARKS: Final = ("p", "h1", "h2", "h3", "h4", "h5", "h6")
"""Elements that show where on the page something stood."""
_RECORDED: Final = (*KINDS, *_FORMULAS, *_LANDMARKS)
_OTHER_FORMULAS: Final = '.katex,span.math-tex,[data-latex],[data-tex],img[alt*="\\\\"],img.latex,img.tex,img.math'
_FORMULA_LEVELS: Final = 4
"""Levels between a formula and a drawing of it."""
START_CHARS: Final = 160
"""Characters, without white space, from which a structure is recognised."""
_READ_CHARS: Final = 4 * START_CHARS
"""Characters that are read for them: code and tables are indented."""
_MAX_CHARS: Final = 20_000_000
"""Characters of text in all structures together: nested ones are read several times, which is bounded here."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A code block, table, list, image or formula of the page."""

    kind: StructureKind
    node: dom.Element
    parent: dom.Node | None
    """The element that it was in."""
    start: str
    """The beginning of its text without white space; of a formula its TeX; empty for an image."""

    @property
    def is_intact(self) -> bool:
        """Return whether its content is still in it, wherever it is now; it is not when it was taken apart."""
        return self.kind == "images" or bool(dom.text_of(self.node).strip())


@dataclass(frozen=True, slots=True)
class Arrived:
    """The structures of the page as it arrived."""

    structures: tuple[Structure, ...]
    order: tuple[dom.Element, ...]
    """They, paragraphs and headings in document order."""
    is_complete: bool
    """Whether all of them are recorded, whatever their number and length."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The structures that belong to the content, which must be in the result."""

    structures: tuple[Structure, ...]
    vanished: tuple[Structure, ...]
    """Those of them that were gone before the content was cut out, though no step recorded a removal."""
    is_complete: bool
    """Whether all structures of the page are known."""


def squeeze(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


def record(body: dom.Element) -> Arrived:
    """Note all structures of the page. Call it before anything changes the page."""
    order = dom.tagged(body, _RECORDED)
    structures: list[Structure] = []
    chars_left = _MAX_CHARS
    may_have_formulas = False
    for node in order:
        kind = KINDS.get(node.tag)
        if kind == "images":
            structures.append(Structure(kind, node, node.parent, ""))
        elif kind is not None:
            text = dom.text_of(node)
            chars_left -= len(text)
            if chars_left < 0:
                break
            if start := squeeze(text[:_READ_CHARS])[:START_CHARS]:
                structures.append(Structure(kind, node, node.parent, start))
        elif node.tag in _FORMULAS and (node.tag != "script" or (node.attr("type") or "").startswith("math/")):
            may_have_formulas = True
    if may_have_formulas or dom.first(body, _OTHER_FORMULAS) is not None:
        structures = _with_formulas(body, structures)
    return Arrived(tuple(structures), tuple(order), chars_left >= 0)


def _with_formulas(body: dom.Element, structures: list[Structure]) -> list[Structure]:
    """Return the structures with formulas; the images in formulas are not images of their own."""
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
    text = ""
    expected: list[Structure] = []
    vanished: list[Structure] = []
    for structure in arrived.structures:
        node = structure.node
        if node in cut_out:
            if structure.is_intact:  # else all that was in it was removed with a reason
                expected.append(structure)
        elif node not in attached:
            top = top_of(node)
            if top is content:
                expected.append(structure)
            else:
                text = text or squeeze(dom.text_of(content))
                if _is_vanished(structure, top, text, removed) and _stood_in(structure, arrived, content, root):
                    vanished.append(structure)
    return Expected(tuple(expected), tuple(vanished), arrived.is_complete)


def _is_vanished(structure: Structure, top: dom.Node, text: str, removed: Collection[dom.Node]) -> bool:
    """Return whether a structure that is no longer on the page was not removed on purpose, nor only taken apart."""
    if top in removed or isinstance(top, dom.Document):
        return False
    return structure.is_intact or structure.start not in text


def _stood_in(structure: Structure, arrived: Arrived, content: dom.Element, root: dom.Node) -> bool:
    """Return whether the structure stood in the content: within it, or between two of its elements."""
    above: dom.Node | None = structure.parent
    while above is not None:
        if above is content or above is root:
            return True
        if isinstance(above, dom.Document):
            return False
        above = above.parent
    place = next((place for place, node in enumerate(arrived.order) if node is structure.node), None)
    if place is None:
        return False
    return _is_in_first(reversed(arrived.order[:place]), content) and _is_in_first(arrived.order[place + 1 :], content)


def _is_in_first(nodes: Iterable[dom.Element], content: dom.Element) -> bool:
    """Return whether the first of the nodes that is still somewhere is in the content."""
    for node in nodes:
        top = top_of(node)
        if top is content:
            return True
        if isinstance(top, dom.Document):
            return False
    return False


def top_of(node: dom.Node) -> dom.Node:
    while node.parent is not None:
        node = node.parent
    return node
