"""Feeds as OPDS 1.2: Atom."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from pagekeep.doors.http.compat.opds.mapping import EPUB, Feed, Publication, Section

NAVIGATION: Final = "application/atom+xml;profile=opds-catalog;kind=navigation"
ACQUISITION: Final = "application/atom+xml;profile=opds-catalog;kind=acquisition"
OPEN_SEARCH: Final = "application/opensearchdescription+xml"
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_feed(feed: Feed, base: str) -> str:
    """Return a feed as Atom; `base` is the server's address without a slash at its end."""
    kind = NAVIGATION if feed.sections and not feed.publications else ACQUISITION
    links = [
        _link("self", base + feed.path, kind),
        _link("start", f"{base}/opds", NAVIGATION),
        _link("search", f"{base}/opds/search.xml", OPEN_SEARCH),
        _link("alternate", base + feed.path, "application/opds+json"),
    ]
    if feed.next:
        links.append(_link("next", base + feed.next, ACQUISITION))
    entries = [_section(section, feed.updated, base) for section in feed.sections]
    entries += [_publication(one, base) for one in feed.publications]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:dc="http://purl.org/dc/terms/">'
        f"<id>{_text(base + feed.path)}</id><title>{_text(feed.title)}</title><updated>{feed.updated}</updated>"
        f"<author><name>Pagekeep</name></author>{''.join(links)}\n{''.join(entries)}</feed>\n"
    )


def write_search(base: str) -> str:
    """Return the description of the search, with an absolute template: some programs do not complete it."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>Pagekeep</ShortName><Description>Search the library</Description>"
        f'<Url type="{ACQUISITION}" template="{_text(base)}/opds/search?q={{searchTerms}}"/></OpenSearchDescription>\n'
    )


def _section(section: Section, updated: str, base: str) -> str:
    kind = NAVIGATION if section.of_sections else ACQUISITION
    return (
        f"<entry><title>{_text(section.title)}</title><id>{_text(base + section.path)}</id><updated>{updated}</updated>"
        f'<content type="text">{_text(section.about)}</content>{_link("subsection", base + section.path, kind)}</entry>\n'
    )


def _publication(one: Publication, base: str) -> str:
    # One author: of several, some programs show the last.
    parts = [
        f"<title>{_text(one.title)}</title><id>{_text(one.id)}</id><updated>{one.updated}</updated>",
        f"<author><name>{_text(one.author or 'Unknown')}</name></author>",
        f"<dc:language>{_text(one.language)}</dc:language>" if one.language else "",
        f"<dc:issued>{_text(one.published)}</dc:issued>" if one.published else "",
        "".join(f'<category term="{_text(tag)}" label="{_text(tag)}"/>' for tag in one.tags),
        f'<summary type="text">{_text(one.summary)}</summary>' if one.summary else "",
        _link("http://opds-spec.org/acquisition", base + one.path, EPUB),
        _link("http://opds-spec.org/image", base + one.cover, "image/jpeg"),
        _link("http://opds-spec.org/image/thumbnail", base + one.cover, "image/jpeg"),
        _link("alternate", one.source, "text/html") if one.source else "",
    ]
    return f"<entry>{''.join(parts)}</entry>\n"


def _link(rel: str, href: str, kind: str) -> str:
    return f'<link rel="{rel}" href="{_text(href)}" type="{kind}"/>'


def _text(value: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", value))
