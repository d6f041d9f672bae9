"""Skip selectors that cannot match a page: look up one class or id they need before running them.

This only rules selectors out: where the page has the token, the selector itself is run. So when in doubt a weaker need
is returned, and tokens are compared without case, as pages in quirks mode match classes.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from itertools import repeat
from typing import Final, Literal, NamedTuple

from pagekeep import dom
from pagekeep.text import compile_lazily

Place = Literal["class", "id", "class_part", "rare", "tag", "any"]


class Need(NamedTuple):
    """A token and where it must occur. `tag` and `any` cannot be looked up: the selector has to be run.

    For `rare` the token is one of `RARE`, and where it occurs follows from its form.
    """

    place: Place
    token: str


ANY: Final = Need("any", "")
RARE: Final = ("[data-testid]", "relative-time", "faceplate-timeago", "model-response", "share-viewer")
"""Attributes and custom elements that rules and metadata look for. The library has no index of them, so that each would be
a search of the whole page; here all are found by one, together with the ids."""
_SELECTIVITY: Final[dict[Place, int]] = {"class": 5, "id": 4, "class_part": 3, "rare": 2, "tag": 1, "any": 0}

_NAME: Final = r"-?[A-Za-z_][A-Za-z0-9_-]*|--[A-Za-z0-9_-]+"
_PIECE: Final = compile_lazily(
    rf"""
      (?P<class>\.(?:{_NAME}))
    | (?P<id>\#(?:{_NAME}))
    | (?P<attribute>\[\s*class\s*[~|^$*]?=\s*(?:"(?P<double>[^"\\\]]+)"|'(?P<single>[^'\\\]]+)'|(?P<bare>{_NAME}))\s*[is]?\s*\])
    | (?P<other_attribute>\[\s*(?P<attribute_name>[A-Za-z-]*+)[^\]\\"']*+(?:(?:"[^"\\]*+"|'[^'\\]*+')[^\]\\"']*+)?\])
    | (?P<nested>:[a-z-]+\()
    | (?P<pseudo>:[a-z-]+)
    | (?P<tag>{_NAME})
    | (?P<comma>\s*,\s*)
    | (?P<between>[\s>+~]+|\*)
    """,
    re.VERBOSE,
)
_BRACKETS: Final = compile_lazily(r"""[()]|"[^"\\]*"|'[^'\\]*'|[^()"'\\]+""")
_CACHED_SELECTORS: Final = 8_192
"""The shipped rules have 2,400 selectors, and users add some."""


def needs(selector: str) -> tuple[Need, ...]:
    """Return one need for each selector of the list: where no need is met, the selector matches nothing."""
    return tuple(max(options, key=selectivity, default=ANY) for options in all_needs(selector))


@lru_cache(maxsize=_CACHED_SELECTORS)
def all_needs(selector: str) -> tuple[tuple[Need, ...], ...]:
    """Return all needs of each selector of the list: where one is not met, that selector matches nothing."""
    alternatives: list[list[Need]] = [[]]
    position = 0
    while position < len(selector):
        piece = _PIECE.match(selector, position)
        if piece is None:
            return ((),)  # an escape or a namespace: too rare to parse
        position = piece.end()
        if piece.lastgroup == "comma":
            alternatives.append([])
        elif piece.lastgroup == "nested":
            position = _skip_bracket(selector, position)
            if position < 0:
                return ((),)
        elif need := _need(piece):
            alternatives[-1].append(need)
    return tuple(map(tuple, alternatives))


def _need(piece: re.Match[str]) -> Need | None:
    if piece.lastgroup == "class":
        return Need("class", piece[0][1:].lower())
    if piece.lastgroup == "id":
        return Need("id", piece[0][1:].lower())
    if piece.lastgroup == "attribute":
        words = (piece["double"] or piece["single"] or piece["bare"]).lower().split()
        return Need("class_part", max(words, key=len)) if words else None
    if piece.lastgroup == "tag" and "-" not in piece[0]:
        return Need("tag", piece[0].lower())
    token = piece[0] if piece.lastgroup == "tag" else f"[{piece['attribute_name']}]"
    return Need("rare", token) if token in RARE else None


def selectivity(need: Need) -> int:
    """Return a rank: the higher, the fewer pages meet the need."""
    return _SELECTIVITY[need.place]


def _skip_bracket(selector: str, position: int) -> int:
    """Return the position after the bracket that was opened before `position`; -1 when it cannot be parsed."""
    depth = 1
    while position < len(selector):
        piece = _BRACKETS.match(selector, position)
        if piece is None:
            return -1
        position = piece.end()
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if depth == 0:
            return position
    return -1


class Names:
    """The class and id names of a tree and of the elements around it, in lower case, each collected on first use."""

    def __init__(self, root: dom.Node) -> None:
        self._root = root

    @cached_property
    def classes(self) -> frozenset[str]:
        """Return every class."""
        return frozenset(self.lines.split())

    @cached_property
    def ids(self) -> frozenset[str]:
        """Return every id; one that contains a line break, which no selector here looks for, is split there."""
        values = {value for node in self._with_id_or_rare if (value := node.attr("id"))}
        return frozenset("\n".join(values).lower().split("\n"))

    @cached_property
    def rare(self) -> frozenset[str]:
        """Return which of `RARE` there are."""
        tags = {node.tag for node in self._with_id_or_rare}
        attributes = [token for token in RARE if token[0] == "[" and self._has_attribute(token[1:-1])]
        return frozenset([*tags.intersection(RARE), *attributes])

    @cached_property
    def _with_id_or_rare(self) -> list[dom.Element]:
        return [*dom.select(self._root, _ID_OR_RARE), *self._above()]

    @cached_property
    def lines(self) -> str:
        """Return all class attributes, one per line, for a fast search for parts of names."""
        return "\n".join(self._values("class")).lower()

    def _has_attribute(self, name: str) -> bool:
        return any(value is not None for value in map(dom.Element.attr, self._with_id_or_rare, repeat(name)))

    def may_match(self, selector: str) -> bool:
        """Return whether the tree has a name the selector needs; true when in doubt."""
        return any(all(map(self._meets, alternative)) for alternative in all_needs(selector))

    def _meets(self, need: Need) -> bool:
        if need.place == "class":
            return need.token in self.classes
        if need.place == "id":
            return need.token in self.ids
        if need.place == "class_part":
            return need.token in self.lines
        return need.place != "rare" or need.token in self.rare

    def _values(self, name: str) -> set[str]:
        nodes = [*dom.select(self._root, f"[{name}]"), *self._above()]
        values = set(map(dom.Element.attr, nodes, repeat(name)))
        return {value for value in values if value}

    def _above(self) -> list[dom.Element]:
        """Return the root and the elements around it, which selectors can refer to."""
        found: list[dom.Element] = []
        above: dom.Node | None = self._root
        while above is not None:
            if isinstance(above, dom.Element):
                found.append(above)
            above = above.parent
        return found


_ID_OR_RARE: Final = ", ".join(("[id]", *RARE))
