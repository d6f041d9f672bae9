"""Find the part of a page that a rule limits extraction to."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import ScopeKind
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, count_words, outermost, select_all
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import Scope
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class FoundScope:
    """The elements that a rule's scope matches."""

    parts: tuple[dom.Element, ...]
    kind: ScopeKind
    """An `article` is the content, apart from boilerplate in it; in a `wrapper` the content is still to be located."""

    def take(self) -> dom.Element:
        """Return the element, or move several into one new element, in order.

        Call it after everything that needs the whole page: moving leaves the page empty.
        """
        return self.parts[0] if len(self.parts) == 1 else dom.element("div", None, *self.parts)


def find_scope(body: dom.Element, rule_scope: Scope) -> tuple[FoundScope | None, tuple[RuleEffect, ...]]:
    """Return the article if it matches, else the wrapper if that matches, with the effects."""
    effects: list[RuleEffect] = []
    pairs: tuple[tuple[ScopeKind, str | None], ...] = (("article", rule_scope.article), ("wrapper", rule_scope.wrapper))
    for kind, selector in pairs:
        if selector is None:
            continue
        nodes = select_all(body, selector)
        parts = list(outermost(nodes or [], selector))
        if any(dom.text_of(part).strip() for part in parts):
            effects.append(RuleEffect("scope", selector, len(parts), count_words(parts), kind))
            return FoundScope(tuple(parts), kind), tuple(effects)
        effects.append(RuleEffect("scope", selector, len(parts), 0, BAD_SELECTOR if nodes is None else NOTHING_FOUND))
    return None, tuple(effects)
