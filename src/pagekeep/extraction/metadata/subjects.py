"""Find what the page is about: its sections and keywords."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.input.structured import Json, short_text, type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.plain import one_line, squeeze
from pagekeep.text import compile_lazily

_MAX_KEYWORDS: Final = 20
_MAX_TERM_CHARS: Final = 60
"""Longer ones are sentences for search engines."""
_MAX_TRAILS: Final = 5
"""Elements named breadcrumb that are looked at."""
_MAX_TRAIL_LINKS: Final = 8
"""A theme marks the whole page as "with-breadcrumbs": an element with more links is not a trail."""
_MAX_CRUMBS: Final = 10
_MAX_VALUES: Final = 50
_LINK_CHARS: Final = 80
_SECTION_CHARS: Final = 300
_KEYWORDS_CHARS: Final = 2_000
_BREADCRUMBS: Final = (
    'nav[class*="breadcrumb" i]', 'nav[aria-label="breadcrumb" i]', 'ol[class*="breadcrumb" i]',
    'ul[class*="breadcrumb" i]', 'div[class*="breadcrumb" i]',
)  # fmt: skip
"""One query each: the tree has an index by tag, so the rare ones cost nothing."""
_SPLIT: Final = compile_lazily(r"[,;|\n\u3001\uff0c]")
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
"""Names that are not sections, in the form `squeeze` returns."""


class Terms(NamedTuple):
    """Names of subjects, and the origin of the first."""

    terms: tuple[str, ...]
    origin: str


def read(clues: Clues, site_name: str | None) -> tuple[Terms, Terms]:
    """Return the sections of the page and its keywords."""
    related = dom.select(clues.document, _RELATED)[:_MAX_RELATED]
    sections = [short_text(link, _LINK_CHARS) for link in related if _is_category(link)]
    tags = [short_text(link, _LINK_CHARS) for link in related if not _is_category(link)]
    return _categories(clues, site_name, sections), _keywords(clues, tags)


def _categories(clues: Clues, site_name: str | None, sections: list[str]) -> Terms:
    """Return the sections without "Home", the site's name and the page itself."""
    data = clues.structured
    values = [
        *((text, "json-ld") for text in _texts(clues.item.get("articleSection"))),
        *((value, "meta") for name in _SECTION_NAMES for value in data.repeated.get(name, ())),
        *((value, "microdata") for value in data.properties.get("articleSection", ())),
        *((crumb, "breadcrumbs") for crumb in _breadcrumbs(clues)),
        *((section, "rel") for section in sections),
    ]
    unwanted = _HOME | {squeeze(name) for name in (site_name or "", clues.title, *clues.headings)}
    return _split_terms(values, _SECTION_CHARS, unwanted, _MAX_CATEGORIES)


def _keywords(clues: Clues, tags: list[str]) -> Terms:
    data = clues.structured
    values = [
        *((text, "json-ld") for text in _texts(clues.item.get("keywords"))),
        *((value, "meta") for name in _KEYWORD_NAMES for value in data.repeated.get(name, ())),
        *((value, "microdata") for value in data.properties.get("keywords", ())),
        *((tag, "rel") for tag in tags),
    ]
    return _split_terms(values, _KEYWORDS_CHARS, frozenset(), _MAX_KEYWORDS)


def _is_category(link: dom.Element) -> bool:
    return "category" in (link.attr("rel") or "").lower()


def _texts(value: Any) -> Iterator[str]:
    for item in value[:_MAX_VALUES] if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = item.get("name")
        if isinstance(item, str):
            yield item


def _split_terms(values: Iterable[FieldValue], max_chars: int, unwanted: frozenset[str], limit: int) -> Terms:
    terms: dict[str, str] = {}
    first = ""
    for text, origin in values:
        for part in _SPLIT.split(one_line(text, max_chars)):
            term = " ".join(part.split()).strip(" #.\"'")
            key = squeeze(term)
            if key and key not in unwanted and 1 < len(term) <= _MAX_TERM_CHARS:
                terms.setdefault(key, term)
                first = first or origin
            if len(terms) >= limit:
                return Terms(tuple(terms.values()), first)
    return Terms(tuple(terms.values()), first)


def _breadcrumbs(clues: Clues) -> list[str]:
    """Return the breadcrumbs without the page itself, from JSON-LD or from the page's markup."""
    for item in clues.structured.json_ld:
        if "BreadcrumbList" in type_names(item):
            return _crumbs_of(item)[:-1]
    for selector in _BREADCRUMBS:
        for element in dom.select(clues.document, selector)[:_MAX_TRAILS] if clues.names.may_match(selector) else ():
            links = dom.select(element, "a")
            if 0 < len(links) <= _MAX_TRAIL_LINKS:
                return [short_text(link, _LINK_CHARS) for link in links]
    return []


def _crumbs_of(item: Json) -> list[str]:
    entries = item.get("itemListElement")
    crumbs = [_crumb(entry) for entry in entries[:_MAX_CRUMBS]] if isinstance(entries, list) else []
    return [crumb for crumb in crumbs if crumb]


def _crumb(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    inner = entry.get("item")
    name = entry.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
    return name if isinstance(name, str) else ""
