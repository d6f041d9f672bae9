"""Find when the page was published and last changed."""

from __future__ import annotations

from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extract import urls
from pagekeep.extract.metadata import nearby
from pagekeep.extract.metadata.clues import Clues, is_foreign
from pagekeep.extract.metadata.dates import in_path, to_iso
from pagekeep.extract.metadata.plain import one_line
from pagekeep.extract.structured import short_text

Found = tuple[str, str]

_DATES: Final = 'h1, time, [class*="date" i], [class*="publish" i], [class*="posted" i]'
_MAX_SEEN: Final = 200
_MAX_TRIED: Final = 25
_OG_PUBLISHED: Final = (
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "article:published",
    "article:post_date",
)
_META_PUBLISHED: Final = (
    "parsely-pub-date", "sailthru.date", "datepublished", "publishdate", "publish-date", "publish_date",
    "published_time", "pubdate", "publication_date", "publication-date", "published-date", "published",
    "article.published", "article_date_original", "originalpublicationdate", "citation_publication_date",
    "citation_online_date", "citation_date", "dcterms.issued", "dc.date.issued", "dcterms.created",
    "dc.date.created", "dc.date", "dcterms.date", "date", "bt:pubdate", "cxenseparse:recs:publishtime",
    "article-publication-date", "release_date", "dc.created", "created", "pub_date", "article:publish_date",
    "gtm-publish-date", "og:pubdate", "og:article:pubdate", "article.created", "displaydate", "date_published",
)  # fmt: skip
_OG_MODIFIED: Final = ("article:modified_time", "og:updated_time", "og:article:modified_time", "article:updated_time")
_META_MODIFIED: Final = (
    "datemodified", "last-modified", "last_modified", "lastmod", "modified", "dcterms.modified",
    "dc.date.modified", "revised", "article_date_updated", "updated_time", "article.updated", "date_modified",
)  # fmt: skip
_MODIFIED_WORDS: Final = ("update", "modif", "edited", "aktualis", "revis")


def published(clues: Clues) -> Found | None:
    """When the page was first published, and where that is said."""
    given = clues.structured
    values = [
        *((clues.item.get(key), "json-ld") for key in ("datePublished", "uploadDate", "datePosted", "dateCreated")),
        (clues.page_item.get("datePublished"), "json-ld"),
        *((given.opengraph.get(name), "opengraph") for name in _OG_PUBLISHED),
        *((given.meta.get(name) or given.opengraph.get(name), "meta") for name in _META_PUBLISHED),
        *((value, "microdata") for value in given.properties.get("datePublished", ())[:2]),
    ]
    stated = _first(values, clues)
    if stated or clues.is_home:
        return stated
    return _in_markup(clues) or _near_heading(clues) or _in_address(clues)


def modified(clues: Clues) -> Found | None:
    """When the page says it was last changed, and where that is said."""
    given = clues.structured
    values = [
        (clues.item.get("dateModified"), "json-ld"),
        (clues.page_item.get("dateModified"), "json-ld"),
        *((given.opengraph.get(name), "opengraph") for name in _OG_MODIFIED),
        *((given.meta.get(name), "meta") for name in _META_MODIFIED),
        *((value, "microdata") for value in given.properties.get("dateModified", ())[:2]),
    ]
    return _first(values, clues)


def _first(values: list[tuple[object, str]], clues: Clues) -> Found | None:
    for value, origin in values:
        text = str(value) if isinstance(value, int) else one_line(value, 100)
        if text and (iso := to_iso(text, day_first=clues.day_first)):
            return iso, origin
    return None


def _in_markup(clues: Clues) -> Found | None:
    """A date the page shows near its heading; a date of change only when there is no other."""
    fallback: Found | None = None
    for element in _own_dates(clues):
        shown = short_text(element, 100)
        stated = element.attr("datetime") if element.tag == "time" else None
        iso = to_iso(stated or "", day_first=clues.day_first) or to_iso(shown, day_first=clues.day_first)
        if iso is None:
            continue
        found = (iso, "time" if element.tag == "time" else "date")
        if not _is_change(element, shown):
            return found
        fallback = fallback or found
    return fallback


def _near_heading(clues: Clues) -> Found | None:
    """A short line by the heading that holds a date, such as "March 5, 2024 | 4 min read"."""
    fallback: Found | None = None
    for line, element in nearby.lines(clues.heading):
        iso = None if "\u00a9" in line else to_iso(line, day_first=clues.day_first)
        if iso is None or is_foreign(element):
            continue
        if not _says_changed(line):
            return iso, "heading"
        fallback = fallback or (iso, "heading")
    return fallback


def _own_dates(clues: Clues) -> list[dom.Element]:
    """Elements that may hold the page's date, those behind the heading before those ahead of it."""
    candidates = dom.select(clues.document, _DATES)
    heading = next((place for place, element in enumerate(candidates) if element is clues.heading), 0)
    ordered = [*candidates[heading : heading + _MAX_SEEN], *candidates[:heading][-_MAX_SEEN:]]
    own = (element for element in ordered if element.tag != "h1" and not is_foreign(element))
    return list(islice(own, _MAX_TRIED))


def _is_change(element: dom.Element, shown: str) -> bool:
    return _says_changed(f"{element.attr('class') or ''} {element.attr('itemprop') or ''} {shown}"[:300])


def _says_changed(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _MODIFIED_WORDS)


def _in_address(clues: Clues) -> Found | None:
    iso = in_path(urls.path(clues.url))
    return (iso, "address") if iso else None
