"""The part of a page that is all the extractor sees."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import ScopeKind
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, count_words, found, outermost
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import Scope


@dataclass(frozen=True, slots=True)
class Scoped:
    """Where the extractor looks, and how much is known about it."""

    parts: tuple[dom.Element, ...]
    kind: ScopeKind
    """An `article` is the content, but for the furniture in it; in a `wrapper` the content is still to be found."""

    def take(self) -> dom.Element:
        """The part itself, where it stands; several are taken out of the page into one holder, in their order.

        Asked only when all is known of the page as a whole: what is left of it looks empty.
        """
        return self.parts[0] if len(self.parts) == 1 else dom.element("div", None, *self.parts)


def scope(body: dom.Element, wanted: Scope) -> tuple[Scoped | None, tuple[RuleEffect, ...]]:
    """The article where it matches, else the wrapper; nothing when neither does."""
    effects: list[RuleEffect] = []
    pairs: tuple[tuple[ScopeKind, str | None], ...] = (("article", wanted.article), ("wrapper", wanted.wrapper))
    for kind, selector in pairs:
        if selector is None:
            continue
        nodes = found(body, selector)
        parts = list(outermost(nodes or [], selector))
        if any(dom.text_of(part).strip() for part in parts):
            effects.append(RuleEffect("scope", selector, len(parts), count_words(parts), kind))
            return Scoped(tuple(parts), kind), tuple(effects)
        effects.append(RuleEffect("scope", selector, len(parts), 0, BAD_SELECTOR if nodes is None else NOTHING_FOUND))
    return None, tuple(effects)
