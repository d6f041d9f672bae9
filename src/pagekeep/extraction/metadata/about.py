"""Find the page's description, site name, canonical URL, icon and licence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.structured import type_names
from pagekeep.extraction.metadata.clues import Clues, FieldValue
from pagekeep.extraction.metadata.plain import one_line, squeeze
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
