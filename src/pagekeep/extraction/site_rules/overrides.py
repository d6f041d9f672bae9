"""Read metadata and the links to the rest of an article from the sources that rules name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import one_line, short_text, squeeze, tidy
from pagekeep.extraction.metadata.author import find_names
from pagekeep.extraction.metadata.dates import is_day_first, to_iso
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, select_all
from pagekeep.model import Metadata, RuleEffect
from pagekeep.model.page import PageLink
from pagekeep.rules.rule import MetadataField, MetadataSource, Rule

Overrides = Mapping[MetadataField, tuple[str | None, str]]
"""Values by field, each with its origin; `None` where a rule ignores what the page states."""

_MAX_ELEMENTS: Final = 20
"""Elements read for a field: there may be many authors."""
# Characters of a value; the same limits as for metadata without rules.
_DESCRIPTION_CHARS: Final = 1_000
_TITLE_CHARS: Final = 500
_NAME_CHARS: Final = 100
_RAW_CHARS: Final = 4 * _DESCRIPTION_CHARS
"""Raw values are longer: white space and markup go later."""


def read(document: dom.Document, rule: Rule, url: str | None) -> tuple[Overrides, tuple[RuleEffect, ...]]:
    """Return the values of the rule's sources on this page, and an effect for each source."""
    page = _Page(urls.base(document, url), is_day_first(document, url))
    values: dict[MetadataField, tuple[str | None, str]] = {}
    effects: list[RuleEffect] = []
    for name, source in rule.metadata.items():
        if not isinstance(source, MetadataSource):
            values[name] = None, f"rule {rule.id}"
            effects.append(RuleEffect("metadata", "", 0, 0, f"{name}: none, the page's value is ignored"))
            continue
        nodes = select_all(document, source.selector)
        value = (
            _READERS[name]([_raw_value(node, source, name) for node in nodes[:_MAX_ELEMENTS]], page) if nodes else None
        )
        if value:
            values[name] = value, f"rule {rule.id}"
        missing = BAD_SELECTOR if nodes is None else NOTHING_FOUND
        effects.append(RuleEffect("metadata", source.selector, len(nodes or ()), 0, f"{name}: {value or missing}"))
    return values, tuple(effects)


def make(rule: Rule, *, author: str, published: str) -> Overrides:
    """Return these values as the rule's, without those that are empty."""
    read: dict[MetadataField, str | None] = {"author": tidy(author, _NAME_CHARS), "published": to_iso(published)}
    return {name: (value, f"rule {rule.id}") for name, value in read.items() if value}


def merge(first: Overrides, second: Overrides) -> Overrides:
    """Return both; the first takes precedence."""
    return {**second, **first}


def apply_overrides(about: Metadata, values: Overrides) -> Metadata:
    """Return the metadata with its values replaced by these."""
    if not values:
        return about
    changes: dict[str, Any] = {}
    origins = dict(about.origins)
    for name, (value, origin) in values.items():
        changes[name], origins[name] = value, origin
    return replace(about, **changes, origins=MappingProxyType(origins))


class _Page:
    """What is needed of the page to read values."""

    def __init__(self, base: str | None, day_first: bool) -> None:
        self.base = base
        self.day_first = day_first


# Attributes that contain the value when the rule names none; the first one present is read.
_DEFAULT_ATTRS: Final[dict[str, tuple[str, ...]]] = {
    "published": ("datetime",),
    "modified": ("datetime",),
    "canonical": ("href",),
    "hero_image": ("src", "data-src", "href"),
    "language": ("lang",),
}


def _raw_value(node: dom.Element, source: MetadataSource, name: str) -> str:
    if source.attr:
        return (node.attr(source.attr) or "")[:_RAW_CHARS]
    names = ("content",) if node.tag == "meta" else _DEFAULT_ATTRS.get(name, ())
    attribute = next((value for key in names if (value := node.attr(key))), None)
    return (attribute or short_text(node, _DESCRIPTION_CHARS))[:_RAW_CHARS]


_Reader = Callable[[list[str], _Page], str | None]


def _line(limit: int) -> _Reader:
    return lambda texts, _page: next((line for text in texts if (line := one_line(text, limit))), None)


def _names(texts: list[str], _page: _Page) -> str | None:
    """Return the names without duplicates, or the first text when no name is recognised: the rule decides."""
    names: dict[str, str] = {}
    for name in (name for text in texts for name in find_names(text)):
        names.setdefault(squeeze(name), name)
    return ", ".join(names.values()) or next((line for text in texts if (line := tidy(text, _NAME_CHARS))), None)


def _date(texts: list[str], page: _Page) -> str | None:
    return next((iso for text in texts if (iso := to_iso(text, day_first=page.day_first))), None)


def _url(texts: list[str], page: _Page) -> str | None:
    return next((url for text in texts if (url := urls.absolute(text, page.base))), None)


def _language(texts: list[str], _page: _Page) -> str | None:
    return next((code for text in texts if (code := metadata.normalise_language(text))), None)


_READERS: Final[dict[MetadataField, _Reader]] = {
    "title": _line(_TITLE_CHARS),
    "author": _names,
    "published": _date,
    "modified": _date,
    "description": _line(_DESCRIPTION_CHARS),
    "site_name": _line(_NAME_CHARS),
    "canonical": _url,
    "hero_image": _url,
    "language": _language,
}

_MAX_LINK_ELEMENTS: Final = 20
"""Elements that are looked at for an address."""


def find_page_links(
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
    address = next(filter(None, (_address(node, base) for node in (nodes or ())[:_MAX_LINK_ELEMENTS])), None)
    missing = BAD_SELECTOR if nodes is None else NOTHING_FOUND if not nodes else "no address"
    effects.append(RuleEffect(key, selector, len(nodes or ()), 0, address or missing))
    return PageLink(address, f"the rule {rule.id} names it", by_rule=True) if address else None


def _address(node: dom.Element, base: str | None) -> str | None:
    """Return the absolute address of a link, or of the first link in another element."""
    link = node if dom.attributes(node).get("href") else dom.first(node, "a[href]")
    return urls.absolute(dom.attributes(link)["href"].partition("#")[0], base) if link is not None else None
