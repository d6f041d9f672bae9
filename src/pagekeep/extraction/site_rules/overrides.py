"""Metadata from the places that rules name: above everything the page says elsewhere, and cleaned like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import short_text
from pagekeep.extraction.metadata import clues, language
from pagekeep.extraction.metadata.dates import to_iso
from pagekeep.extraction.metadata.names import find_names
from pagekeep.extraction.metadata.plain import one_line, squeeze, tidy
from pagekeep.extraction.site_rules.select import BAD_SELECTOR, NOTHING_FOUND, found
from pagekeep.model import Metadata, RuleEffect
from pagekeep.rules.rule import MetadataField, MetadataSource, Rule

Overrides = Mapping[MetadataField, tuple[str | None, str]]
"""Field to its value, `None` where a rule believes nothing the page says of it, and where that came from."""

_MOST: Final = 20
"""Elements looked at for a field: authors may be many."""
_LONGEST: Final = 1_000


def read(document: dom.Document, rule: Rule, url: str | None) -> tuple[Overrides, tuple[RuleEffect, ...]]:
    """What the rule's places say on this page, and a effect for each of them."""
    page = _Page(urls.base(document, url), clues.is_day_first(document))
    values: dict[MetadataField, tuple[str | None, str]] = {}
    effects: list[RuleEffect] = []
    for name, source in rule.metadata.items():
        if not isinstance(source, MetadataSource):
            values[name] = None, f"rule {rule.id}"
            effects.append(RuleEffect("metadata", "", 0, 0, f"{name}: none, whatever the page says"))
            continue
        nodes = found(document, source.selector)
        value = _READERS[name]([_said(node, source, name) for node in nodes[:_MOST]], page) if nodes else None
        if value:
            values[name] = value, f"rule {rule.id}"
        missing = BAD_SELECTOR if nodes is None else NOTHING_FOUND
        effects.append(RuleEffect("metadata", source.selector, len(nodes or ()), 0, f"{name}: {value or missing}"))
    return values, tuple(effects)


def merged(first: Overrides, second: Overrides) -> Overrides:
    """Both, the first winning."""
    return {**second, **first}


def apply(about: Metadata, values: Overrides) -> Metadata:
    """The metadata with these values in place of what it had."""
    if not values:
        return about
    changes: dict[str, Any] = {}
    origins = dict(about.origins)
    for name, (value, origin) in values.items():
        changes[name], origins[name] = value, origin
    return replace(about, **changes, origins=MappingProxyType(origins))


class _Page:
    """What the readers of values must know of the page."""

    def __init__(self, base: str | None, day_first: bool) -> None:
        self.base = base
        self.day_first = day_first


# Where an element states something when the rule does not say: the first of these attributes that is there.
_STATED: Final[dict[str, tuple[str, ...]]] = {
    "published": ("datetime",),
    "modified": ("datetime",),
    "canonical": ("href",),
    "hero_image": ("src", "data-src", "href"),
    "language": ("lang",),
}


def _said(node: dom.Element, source: MetadataSource, name: str) -> str:
    if source.attr:
        return (node.attr(source.attr) or "")[: 4 * _LONGEST]
    stated = ("content",) if node.tag == "meta" else _STATED.get(name, ())
    attribute = next((value for key in stated if (value := node.attr(key))), None)
    return (attribute or short_text(node, _LONGEST))[: 4 * _LONGEST]


_Reader = Callable[[list[str], _Page], str | None]


def _line(limit: int) -> _Reader:
    return lambda texts, _page: next((line for text in texts if (line := one_line(text, limit))), None)


def _names(texts: list[str], _page: _Page) -> str | None:
    """Every name once; what names nobody by our lights is still what the rule says."""
    names: dict[str, str] = {}
    for name in (name for text in texts for name in find_names(text)):
        names.setdefault(squeeze(name), name)
    return ", ".join(names.values()) or next((line for text in texts if (line := tidy(text, 100))), None)


def _date(texts: list[str], page: _Page) -> str | None:
    return next((iso for text in texts if (iso := to_iso(text, day_first=page.day_first))), None)


def _address(texts: list[str], page: _Page) -> str | None:
    return next((url for text in texts if (url := urls.absolute(text, page.base))), None)


def _language(texts: list[str], _page: _Page) -> str | None:
    return next((code for text in texts if (code := language.normalise(text))), None)


_READERS: Final[dict[MetadataField, _Reader]] = {
    "title": _line(500),
    "author": _names,
    "published": _date,
    "modified": _date,
    "description": _line(1_000),
    "site_name": _line(100),
    "canonical": _address,
    "hero_image": _address,
    "language": _language,
}
