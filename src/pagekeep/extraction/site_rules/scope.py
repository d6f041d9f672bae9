"""Find the part of a page that a rule limits extraction to."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import ScopeKind
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, count_words, outermost, select_all
from pagekeep.extraction.site_rules.thread import FoundThread, find_thread
from pagekeep.model import RuleEffect
from pagekeep.rules.rule import Rule
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class FoundScope:
    """The elements that a rule's scope matches."""

    parts: tuple[dom.Element, ...]
    kind: ScopeKind
    """An `article` is the content, apart from boilerplate in it; in a `wrapper` the content is still to be located."""
    thread: FoundThread | None = None
    """The thread that the elements are the texts of."""

    def take(self) -> dom.Element:
        """Return the element, or move several into one new element, in order.

        Call it after everything that needs the whole page: moving leaves the page empty.
        """
        if self.thread:
            return self.thread.write()
        return self.parts[0] if len(self.parts) == 1 else dom.element("div", None, *self.parts)


def find_scope(
    body: dom.Element, rule: Rule, url: str | None = None
) -> tuple[FoundScope | None, tuple[RuleEffect, ...]]:
    """Return the rule's thread if it is there, else its article, else its wrapper, with the effects."""
    effects: list[RuleEffect] = []
    if rule.thread:
        found = find_thread(body, rule.thread, url)
        count, words = (len(found.messages), count_words(found.parts())) if found else (0, 0)
        effects.append(RuleEffect("thread", rule.thread.message, count, words, "" if found else NOTHING_FOUND))
        if found:
            return FoundScope(found.parts(), "article", found), tuple(effects)
    scope = rule.selector_overrides
    if scope is None:
        return None, tuple(effects)
    pairs: tuple[tuple[ScopeKind, str | None], ...] = (("article", scope.article), ("wrapper", scope.wrapper))
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
