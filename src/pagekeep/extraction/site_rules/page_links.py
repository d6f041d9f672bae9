"""Find the links to the rest of an article that rules name."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, select_all
from pagekeep.model import RuleEffect
from pagekeep.model.continuation import PageLink
from pagekeep.rules.rule import Rule

_MAX_ELEMENTS: Final = 20
"""Elements that are looked at for an address."""


def find_links(
    document: dom.Document, rule: Rule, url: str | None
) -> tuple[PageLink | None, tuple[PageLink, ...], list[RuleEffect]]:
    """Return the rule's links to the next page and to all of the article on this page, and an effect for each selector."""
    base, effects = urls.base(document, url), list[RuleEffect]()
    following = [_find(document, "next_page", selector, rule, base, effects) for selector in rule.next_page]
    single = [_find(document, "single_page", selector, rule, base, effects) for selector in rule.single_page]
    return next(filter(None, following), None), tuple(filter(None, single)), effects


def _find(
    document: dom.Document, key: str, selector: str, rule: Rule, base: str | None, effects: list[RuleEffect]
) -> PageLink | None:
    nodes = select_all(document, selector)
    address = next(filter(None, (_address(node, base) for node in (nodes or ())[:_MAX_ELEMENTS])), None)
    missing = BAD_SELECTOR if nodes is None else NOTHING_FOUND if not nodes else "no address"
    effects.append(RuleEffect(key, selector, len(nodes or ()), 0, address or missing))
    return PageLink(address, f"the rule {rule.id} names it", by_rule=True) if address else None


def _address(node: dom.Element, base: str | None) -> str | None:
    """Return the absolute address of a link, or of the first link in another element."""
    link = node if dom.attributes(node).get("href") else dom.first(node, "a[href]")
    return urls.absolute(dom.attributes(link)["href"].partition("#")[0], base) if link is not None else None
