"""What a page must hold for a selector to find anything in it: one token that is cheap to look up.

A need is a sieve, never a decision: where the page has the token, the selector itself is asked. So when in doubt the
answer is a weaker need, and letters count without case (pages in quirks mode match classes so).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Place = Literal["class", "id", "class_part", "tag", "any"]


class Need(NamedTuple):
    """A token and where it must stand. `tag` and `any` cannot be looked up: the selector has to be run."""

    place: Place
    token: str


ANY: Final = Need("any", "")
_RANK: Final[dict[Place, int]] = {"class": 4, "id": 3, "class_part": 2, "tag": 1, "any": 0}

_NAME: Final = r"-?[A-Za-z_][A-Za-z0-9_-]*|--[A-Za-z0-9_-]+"
_PIECE: Final = re.compile(
    rf"""
      (?P<class>\.(?:{_NAME}))
    | (?P<id>\#(?:{_NAME}))
    | (?P<attribute>\[\s*class\s*[~|^$*]?=\s*(?:"(?P<double>[^"\\\]]+)"|'(?P<single>[^'\\\]]+)'|(?P<bare>{_NAME}))\s*[is]?\s*\])
    | (?P<other_attribute>\[[^\]\\"']*+(?:(?:"[^"\\]*+"|'[^'\\]*+')[^\]\\"']*+)?\])
    | (?P<nested>:[a-z-]+\()
    | (?P<pseudo>:[a-z-]+)
    | (?P<tag>{_NAME})
    | (?P<comma>\s*,\s*)
    | (?P<between>[\s>+~]+|\*)
    """,
    re.VERBOSE,
)
_BRACKETS: Final = re.compile(r"""[()]|"[^"\\]*"|'[^'\\]*'|[^()"'\\]+""")


@lru_cache(maxsize=8_192)
def needs(selector: str) -> tuple[Need, ...]:
    """One need for each selector of the list: where none of them is met, the selector finds nothing."""
    alternatives: list[list[Need]] = [[]]
    position = 0
    while position < len(selector):
        piece = _PIECE.match(selector, position)
        if piece is None:
            return (ANY,)  # an escape, a namespace: rare, so not worth understanding
        position = piece.end()
        if piece.lastgroup == "comma":
            alternatives.append([])
        elif piece.lastgroup == "nested":
            position = _behind(selector, position)
            if position < 0:
                return (ANY,)
        elif found := _need(piece):
            alternatives[-1].append(found)
    return tuple(max(found, key=_rank, default=ANY) for found in alternatives)


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
    return None


def _rank(need: Need) -> int:
    return _RANK[need.place]


def _behind(selector: str, position: int) -> int:
    """The place behind the bracket that was opened before `position`; -1 when it is not understood."""
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
