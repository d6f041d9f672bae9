"""Find what the page says it is: description, site, canonical URL, icon, licence, picture, sections and keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import Json, Structured, one_line, short_text, squeeze, type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.model import Kind, Metadata
from pagekeep.text import compile_lazily

_DESCRIPTION_CHARS: Final = 1_000
_SITE_NAME_CHARS: Final = 100
_LICENCE_CHARS: Final = 200
_CREATIVE_COMMONS: Final = compile_lazily(
    r"creativecommons\.org/(?:licenses/(?P<terms>by(?:-nc)?(?:-nd|-sa)?)(?:/(?P<version>\d\.\d))?|publicdomain/(?P<public>zero|mark))",
    re.IGNORECASE,
)
_TITLE_END: Final = re.compile(r"\s[|\u2013\u2014\u2022\u00b7\u00bb-]\s")


def find_description(clues: Clues) -> FieldValue | None:
    """Return the page's own summary."""
    data = clues.structured
    return _first(
        [
            (clues.item.get("description"), "json-ld"),
            (data.opengraph.get("og:description"), "opengraph"),
            (data.twitter.get("twitter:description"), "twitter"),
            *(
                (data.meta.get(name), "meta")
                for name in ("description", "dc.description", "dcterms.description", "sailthru.description")
            ),
            (data.properties.get("description", ("",))[0], "microdata"),
        ],
        _DESCRIPTION_CHARS,
    )


def find_site_name(clues: Clues) -> FieldValue | None:
    """Return the site's own name."""
    data = clues.structured
    return _first(
        [
            (data.opengraph.get("og:site_name"), "opengraph"),
            *((name, "json-ld") for name in _publishers(clues)),
            *(
                (data.meta.get(name), "meta")
                for name in ("application-name", "apple-mobile-web-app-title", "dc.publisher", "citation_journal_title")
            ),
            (_site_in_title(clues), "title"),
        ],
        _SITE_NAME_CHARS,
    )


def find_canonical(clues: Clues) -> FieldValue | None:
    """Return the canonical URL that the page declares."""
    data = clues.structured
    targets = [
        *((link, "link") for link in data.links.get("canonical", ())),
        (data.opengraph.get("og:url"), "opengraph"),
    ]
    return next(((url, origin) for link, origin in targets if (url := urls.absolute(link, clues.base))), None)


def find_licence(clues: Clues) -> FieldValue | None:
    """Return the page's licence: the short name of a Creative Commons licence, others as stated."""
    data = clues.structured
    anchors = (link.attr("href") for link in dom.select(clues.document, 'a[rel~="license"]')[:1])
    values = [
        (_text_of(clues.item.get("license")), "json-ld"),
        (_text_of(clues.page_item.get("license")), "json-ld"),
        *((link, "link") for link in data.links.get("license", ())[:1]),
        *(
            (data.meta.get(name), "meta")
            for name in ("dcterms.license", "dc.license", "dc.rights.license", "citation_license")
        ),
        *((link, "rel") for link in anchors),
    ]
    for value, origin in values:
        if text := one_line(value, _LICENCE_CHARS):
            return _licence_name(text, clues), origin
    return None


def _licence_name(text: str, clues: Clues) -> str:
    known = _CREATIVE_COMMONS.search(text)
    if known is None:
        return urls.absolute(text, clues.base) or text if "/" in text else text
    if known["public"]:
        return "CC0 1.0" if known["public"].lower() == "zero" else "Public domain"
    return f"CC {known['terms'].upper()} {known['version'] or ''}".strip()


def _text_of(value: Any) -> Any:
    if isinstance(value, list):
        value = value[0] if value else None
    return (value.get("url") or value.get("@id") or value.get("name")) if isinstance(value, dict) else value


def find_favicon(clues: Clues) -> FieldValue | None:
    """Return the site's icon."""
    links = clues.structured.links
    targets = [link for relation in ("icon", "apple-touch-icon") for link in links.get(relation, ())]
    return next(((url, "link") for link in targets if (url := urls.absolute(link, clues.base))), None)


def _first(values: Iterable[tuple[Any, str]], limit: int) -> FieldValue | None:
    return next(((text, origin) for value, origin in values if (text := one_line(value, limit))), None)


def _publishers(clues: Clues) -> list[Any]:
    names = [_name(clues.item.get("publisher"), clues)]
    names += [item.get("name") for item in clues.structured.json_ld if "WebSite" in type_names(item)]
    return names


def _name(value: Any, clues: Clues) -> Any:
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return None
    identity = value.get("@id")
    return value.get("name") or (clues.by_id.get(identity, {}).get("name") if isinstance(identity, str) else None)


def _site_in_title(clues: Clues) -> str | None:
    """Return the last or first part of the title if it matches the host."""
    parts = _TITLE_END.split(clues.title)
    if len(parts) < 2:
        return None
    host = squeeze(urls.domain(clues.url).partition(".")[0])
    return next((part for part in (parts[-1], parts[0]) if host and squeeze(part) in (host, f"the{host}")), None)


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


def read_subjects(clues: Clues, site_name: str | None) -> tuple[Terms, Terms]:
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


_NOT_HERO: Final = compile_lazily(
    r"(?:\A|[/_.@\s-])(?:placeholder|favicon|spacer|blank|pixel|fallback|sprite|avatars?|profileavatar|gravatar|icons?"
    r"|logos?|og-?default|default-?image|no-?image|default-(?:social|share|og)|(?:social|og|share|open-?graph)-(?:share|image|icon"
    r"|default|card)|subscribe-card)(?=[/_.@\s\d-]|\Z)"
    r"|logo(?=[_.\d-][^/]*\Z)|(?<!/vi)/[^/]*\bdefault\.\w+\Z|transparent\.\w+\Z|\.ico\Z|\A(?:data|blob):"
)
"""URLs of images that a site uses for every page, or that show nothing."""
_MAX_URL_CHARS: Final = 2_000
_MIN_HERO_WIDTH: Final = 120
"""Pixels; narrower images are icons."""
_MAX_DIGITS: Final = 5
_MAX_IMAGES: Final = 3
"""Images of one JSON-LD object that are tried."""
_MIN_HERO_HEIGHT: Final = 60
"""Pixels; lower images are icons, buttons and banners."""
_MAX_PICTURES: Final = 20
"""Pictures of the content that are looked at: the first real one comes early."""
_OF_MANY_THINGS: Final[frozenset[Kind]] = frozenset(("forum", "collection", "listing"))
"""Kinds of pages whose first picture shows one of many things, or the author of a post, rather than the page."""
_DECLARED: Final = frozenset(("json-ld", "opengraph", "twitter", "link", "microdata"))
"""Origins of an image that the page declares; any other is a rule, whose choice is final."""


def choose_hero(known: Metadata, root: dom.Element, kind: Kind, structured: Structured) -> Metadata:
    """Return the metadata with the hero image: a rule's, else the first real picture of the content, else the declared one.

    Where the content is about many things, the declared image comes before the first picture.
    """
    if known.hero_image and (known.origins.get("hero_image") not in _DECLARED or kind in _OF_MANY_THINGS):
        return known
    picture = _find_picture(root, structured)
    if picture is None:
        return known
    return replace(known, hero_image=picture, origins=MappingProxyType({**known.origins, "hero_image": "content"}))


def _find_picture(root: dom.Element, structured: Structured) -> str | None:
    """Return the first picture of the clean content that is not an icon, a logo or a portrait."""
    for image in dom.tagged(root, ("img",), _MAX_PICTURES):
        url = image.attr("src")
        if (
            not url
            or _is_under(image.attr("width"), _MIN_HERO_WIDTH)
            or _is_under(image.attr("height"), _MIN_HERO_HEIGHT)
        ):
            continue
        drawing = url.partition("?")[0].lower().endswith(".svg")
        if not drawing and _may_be_hero(url) and url not in _logos_and_portraits(structured, {}, None):
            return url
    return None


def _is_under(size: str | None, least: int) -> bool:
    digits = (size or "").removesuffix("px")[:_MAX_DIGITS]
    return digits.isdecimal() and int(digits) < least


def find_declared_hero(clues: Clues) -> FieldValue | None:
    """Return the image that the page declares as its main one; never a logo or a placeholder."""
    data = clues.structured
    targets = [
        *((image, "json-ld") for image in _images(clues.item, clues.by_id)),
        *((data.opengraph.get(name), "opengraph") for name in ("og:image", "og:image:secure_url", "og:image:url")),
        *((data.twitter.get(name), "twitter") for name in ("twitter:image", "twitter:image:src")),
        *((link, "link") for link in data.links.get("image_src", ())),
        *((image, "microdata") for image in data.properties.get("image", ())[:1]),
    ]
    for address, origin in targets:
        url = urls.absolute(address, clues.base)
        is_tiny = origin == "opengraph" and _is_tiny(clues)
        if url and not is_tiny and _may_be_hero(url) and url not in _logos_and_portraits(data, clues.by_id, clues.base):
            return url, origin
    return None


def _may_be_hero(url: str) -> bool:
    if len(url) > _MAX_URL_CHARS:
        return False
    path = unquote(url.lower().split("?")[0].partition("://")[2].partition("/")[2])
    return not _NOT_HERO.search(f"/{path}".replace("_", "-"))


def _is_tiny(clues: Clues) -> bool:
    return _is_under(clues.structured.opengraph.get("og:image:width", "").strip(), _MIN_HERO_WIDTH)


def _logos_and_portraits(structured: Structured, by_id: Any, base: str | None) -> frozenset[str]:
    """Return the images that the JSON-LD declares as logos of organisations or portraits of people."""
    images: list[Any] = []
    for item in structured.json_ld:
        publisher = item.get("publisher")
        images += [item.get("logo"), item.get("image") if "Person" in type_names(item) else None]
        images.append(publisher.get("logo") if isinstance(publisher, dict) else None)
    addresses = [_image_address(value, by_id) for value in images if value]
    return frozenset(url for address in addresses if address and (url := urls.absolute(address, base)))


def _images(item: Json, by_id: Any) -> list[str]:
    value = item.get("image") or item.get("thumbnailUrl")
    values = value[:_MAX_IMAGES] if isinstance(value, list) else [value]
    return [address for entry in values if (address := _image_address(entry, by_id))]


def _image_address(value: Any, by_id: Any) -> str | None:
    if isinstance(value, dict):
        identity = value.get("@id")
        known = by_id.get(identity, {}) if isinstance(identity, str) else {}
        value = value.get("url") or value.get("contentUrl") or known.get("url") or known.get("contentUrl")
        value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, str) else None
