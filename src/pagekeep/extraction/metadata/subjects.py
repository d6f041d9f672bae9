"""What the page is about: its sections and its own keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.input.structured import Json, short_text, type_names
from pagekeep.extraction.metadata.clues import Clues
from pagekeep.extraction.metadata.plain import one_line, squeezed

_MAX_TERMS: Final = 20
_MAX_LENGTH: Final = 60
_MAX_TRAILS: Final = 5
_MAX_TRAIL: Final = 8
_BREADCRUMBS: Final = (
    'nav[class*="breadcrumb" i]', 'nav[aria-label="breadcrumb" i]', 'ol[class*="breadcrumb" i]',
    'ul[class*="breadcrumb" i]', 'div[class*="breadcrumb" i]',
)  # fmt: skip
"""Asked for one by one: the tree has an index of its tags, so the rare ones cost nothing."""
_SPLIT: Final = re.compile(r"[,;|\n\u3001\uff0c]")
_RELATED: Final = 'a[rel~="tag"], a[rel~="category"]'
_MAX_RELATED: Final = 40
_MAX_CATEGORIES: Final = 10
_SECTION_NAMES: Final = (
    "article:section",
    "og:article:section",
    "parsely-section",
    "category",
    "section",
    "dc.subject",
)
_KEYWORD_NAMES: Final = (
    "article:tag", "og:article:tag", "news_keywords", "keywords", "parsely-tags", "sailthru.tags",
    "citation_keywords", "dc.keywords", "video:tag",
)  # fmt: skip
_HOME: Final = frozenset(
    "home homepage startseite start accueil inicio início главная hem forside etusivu stronagłówna uncategorized"
    " uncategorised unkategorisiert all index".split()
)
"""Names of no section, as `squeezed` writes them."""


class Terms(NamedTuple):
    """Names of subjects, and where the first of them came from."""

    terms: tuple[str, ...]
    origin: str


def read(clues: Clues, site_name: str | None) -> tuple[Terms, Terms]:
    """The sections the page files itself under, and its own keywords."""
    related = dom.select(clues.document, _RELATED)[:_MAX_RELATED]
    sections = [short_text(link, 80) for link in related if _is_category(link)]
    tags = [short_text(link, 80) for link in related if not _is_category(link)]
    return _categories(clues, site_name, sections), _keywords(clues, tags)


def _categories(clues: Clues, site_name: str | None, sections: list[str]) -> Terms:
    """Sections without Home, the site's name or the page itself."""
    given = clues.structured
    found = [
        *((text, "json-ld") for text in _texts(clues.item.get("articleSection"))),
        *((value, "meta") for name in _SECTION_NAMES for value in given.repeated.get(name, ())),
        *((value, "microdata") for value in given.properties.get("articleSection", ())),
        *((crumb, "breadcrumbs") for crumb in _breadcrumbs(clues)),
        *((section, "rel") for section in sections),
    ]
    unwanted = _HOME | {squeezed(name) for name in (site_name or "", clues.title, *clues.headings)}
    return _terms(found, 300, unwanted, _MAX_CATEGORIES)


def _keywords(clues: Clues, tags: list[str]) -> Terms:
    given = clues.structured
    found = [
        *((text, "json-ld") for text in _texts(clues.item.get("keywords"))),
        *((value, "meta") for name in _KEYWORD_NAMES for value in given.repeated.get(name, ())),
        *((value, "microdata") for value in given.properties.get("keywords", ())),
        *((tag, "rel") for tag in tags),
    ]
    return _terms(found, 2_000, frozenset(), _MAX_TERMS)


def _is_category(link: dom.Element) -> bool:
    return "category" in (link.attr("rel") or "").lower()


def _texts(value: Any) -> Iterator[str]:
    for item in value[:50] if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = item.get("name")
        if isinstance(item, str):
            yield item


def _terms(found: Iterable[tuple[str, str]], length: int, unwanted: frozenset[str], limit: int) -> Terms:
    terms: dict[str, str] = {}
    first = ""
    for text, origin in found:
        for part in _SPLIT.split(one_line(text, length)):
            term = " ".join(part.split()).strip(" #.\"'")
            key = squeezed(term)
            if key and key not in unwanted and 1 < len(term) <= _MAX_LENGTH:
                terms.setdefault(key, term)
                first = first or origin
            if len(terms) >= limit:
                return Terms(tuple(terms.values()), first)
    return Terms(tuple(terms.values()), first)


def _breadcrumbs(clues: Clues) -> list[str]:
    """The way to the page without its end, from JSON-LD or from the page's own trail."""
    for item in clues.structured.json_ld:
        if "BreadcrumbList" in type_names(item):
            return _crumbs_of(item)[:-1]
    for selector in _BREADCRUMBS:
        for element in dom.select(clues.document, selector)[:_MAX_TRAILS]:
            links = dom.select(element, "a")
            # A theme marks the whole page as "with-breadcrumbs": more links than a trail has are a page's.
            if 0 < len(links) <= _MAX_TRAIL:
                return [short_text(link, 80) for link in links]
    return []


def _crumbs_of(item: Json) -> list[str]:
    entries = item.get("itemListElement")
    crumbs = [_crumb(entry) for entry in entries[:10]] if isinstance(entries, list) else []
    return [crumb for crumb in crumbs if crumb]


def _crumb(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    inner = entry.get("item")
    name = entry.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
    return name if isinstance(name, str) else ""
