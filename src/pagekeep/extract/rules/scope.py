"""The part of a page that is all the extractor sees."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep import dom
from pagekeep.extract.reading import ScopeKind
from pagekeep.extract.rules.finding import BAD_SELECTOR, NOTHING_FOUND, count_words, found, outermost
from pagekeep.model import RuleDeed
from pagekeep.rules.rule import Scope


@dataclass(frozen=True, slots=True)
class Scoped:
    """Where the extractor looks, and how much is known about it."""

    root: dom.Element
    kind: ScopeKind
    """An `article` is the content, but for the furniture in it; in a `wrapper` the content is still to be found."""


def scope(body: dom.Element, wanted: Scope) -> tuple[Scoped | None, tuple[RuleDeed, ...]]:
    """The article where it matches, else the wrapper; nothing when neither does."""
    deeds: list[RuleDeed] = []
    pairs: tuple[tuple[ScopeKind, str | None], ...] = (("article", wanted.article), ("wrapper", wanted.wrapper))
    for kind, selector in pairs:
        if selector is None:
            continue
        nodes = found(body, selector)
        parts = list(outermost(nodes or [], selector))
        words = count_words(parts)
        if words:
            deeds.append(RuleDeed("scope", selector, len(parts), words, kind))
            return Scoped(_as_one(parts), kind), tuple(deeds)
        deeds.append(RuleDeed("scope", selector, len(parts), 0, BAD_SELECTOR if nodes is None else NOTHING_FOUND))
    return None, tuple(deeds)


def _as_one(parts: list[dom.Element]) -> dom.Element:
    """The part itself, where it stands; several are taken out of the page into one holder, in their order."""
    if len(parts) == 1:
        return parts[0]
    return dom.element("div", None, *parts)
