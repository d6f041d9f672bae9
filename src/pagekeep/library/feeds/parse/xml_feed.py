"""RSS, RDF and Atom, by feedparser: it gets bytes, never an address, so it fetches nothing."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pagekeep.errors import ParseError
from pagekeep.library.feeds.parse.fields import MAX_LISTED, to_address, to_author, to_html, to_text, to_time, to_xml
from pagekeep.model.feeds import MAX_ENTRIES, ParsedEntry, ParsedFeed

_PERIODS: Final = {"hourly": 3_600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}
_TIMES: Final = ("published", "updated", "created", "expired")


def read(text: str, url: str) -> ParsedFeed | None:
    """Return the feed in an XML document, well-formed or not; `None` when there is none."""
    import feedparser

    try:
        document = feedparser.parse(
            io.BytesIO(to_xml(text)),
            response_headers={"content-location": url, "content-type": "application/xml; charset=utf-8"},
            # Addresses and markup are left to the clean-up that every page goes through.
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:  # broken markup makes feedparser raise errors of any kind
        raise ParseError(f"The feed cannot be read ({type(error).__name__} in its markup).", suggestions=()) from error
    if not document.get("version") and not document.entries:
        return None
    feed = document.feed
    return ParsedFeed(
        format=document.get("version") or "unknown",
        title=_text(feed, "title"),
        site=to_address(feed.get("link"), url) or _link(feed, "alternate", url),
        language=to_text(feed.get("language")) or None,
        ttl_seconds=_ttl(feed),
        hub=_link(feed, "hub", url),
        next_url=_link(feed, "next", url),
        entries=tuple(_entry(entry, url) for entry in document.entries[:MAX_ENTRIES]),
    )


def _ttl(feed: Mapping[str, Any]) -> int | None:
    """Return how long the feed says that it does not change: `ttl` in minutes, or a period of the syndication module."""
    ttl = str(feed.get("ttl") or "").strip()
    if ttl.isascii() and ttl.isdigit() and len(ttl) < 8:
        return int(ttl) * 60
    period = _PERIODS.get(str(feed.get("sy_updateperiod") or "").strip().lower())
    often = str(feed.get("sy_updatefrequency") or "1").strip()
    if period is None:
        return None
    return period // max(1, int(often) if often.isascii() and often.isdigit() and len(often) < 6 else 1)


def _link(where: Mapping[str, Any], rel: str, url: str) -> str | None:
    for link in _records(where, "links"):
        if link.get("rel") == rel and (found := to_address(link.get("href"), url)):
            return found
    return None


def _entry(entry: Mapping[str, Any], url: str) -> ParsedEntry:
    address = _address(entry, url)
    html, base = _body(entry)
    detail = _record(entry, "summary_detail")
    summary, summary_base = to_html(entry.get("summary"), str(detail.get("type") or "")), detail.get("base")
    if not html:
        html, base, summary = summary, summary_base, ""
    return ParsedEntry(
        guid=str(entry.get("id") or "").strip(),
        title=_text(entry, "title"),
        url=address,
        author=_authors(entry),
        published_at=to_time(*_times(entry)),
        html=html,
        base=to_address(base, url) or address or url,
        summary=summary if summary != html else "",
        extra=dict(_extra(entry, url)),
    )


def _times(entry: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the times of an entry, as they are written and as feedparser, which knows more languages, read them."""
    own = dict(entry.items())  # feedparser's own look-up takes one time for another
    return (own.get(key) for name in _TIMES for key in (name, f"{name}_parsed"))


def _text(where: Mapping[str, Any], name: str) -> str:
    kind = str(_record(where, f"{name}_detail").get("type") or "")
    return to_text(where.get(name), html="html" in kind or None)


def _address(entry: Mapping[str, Any], url: str) -> str | None:
    """Return the address of the entry's page: its link, or else its guid, or what it encloses."""
    for rel in ("alternate", ""):
        for link in _records(entry, "links"):
            kind = str(link.get("type") or "")
            if link.get("rel", "") == rel and "json" not in kind and (found := to_address(link.get("href"), url)):
                return found
    guid = str(entry.get("id") or "")
    candidates = [entry.get("link"), guid if guid.startswith(("http://", "https://")) else None]
    return next((found for one in candidates if (found := to_address(one, url))), None) or _link(
        entry, "enclosure", url
    )


def _body(entry: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the whole text of an entry: of several versions, HTML rather than plain text, and the longer one."""
    best: tuple[bool, int, str, str | None] = (False, 0, "", None)
    for content in _records(entry, "content"):
        kind, value = str(content.get("type") or ""), content.get("value")
        if content.get("src") or not isinstance(value, str) or not value.strip():
            continue
        html = to_html(value, kind)
        if (one := ("html" in kind, len(html))) > best[:2]:
            best = (*one, html, content.get("base"))
    return best[2], best[3]


def _authors(entry: Mapping[str, Any]) -> str | None:
    listed = [author.get("name") or author.get("email") for author in _records(entry, "authors")]
    names = [name for one in (listed or [entry.get("author")]) if (name := to_author(one))]
    return ", ".join(dict.fromkeys(names[:MAX_LISTED])) or None


def _extra(entry: Mapping[str, Any], url: str) -> Iterator[tuple[str, Any]]:
    tags = (to_text(tag.get("label") or tag.get("term")) for tag in _records(entry, "tags"))
    if categories := list(dict.fromkeys(tag for tag in tags if tag))[:MAX_LISTED]:
        yield "categories", categories
    if enclosures := list(_enclosures(entry, url)):
        yield "enclosures", enclosures[:MAX_LISTED]
    if comments := to_address(entry.get("comments"), url):
        yield "comments", comments
    if duration := to_text(entry.get("itunes_duration")):
        yield "duration", duration
    if image := _image(entry, url):
        yield "image", image


def _enclosures(entry: Mapping[str, Any], url: str) -> Iterator[dict[str, Any]]:
    seen = set()
    links = [link for link in _records(entry, "links") if link.get("rel") == "enclosure"]
    for one in (*links, *_records(entry, "media_content")):
        address = to_address(one.get("href") or one.get("url"), url)
        if address is None or address in seen:
            continue
        seen.add(address)
        size = str(one.get("length") or one.get("filesize") or "")
        known = {"url": address, "type": to_text(one.get("type")) or to_text(one.get("medium"))}
        if size.isascii() and size.isdigit() and 0 < len(size) < 16:
            known["bytes"] = size
        yield {name: value for name, value in known.items() if value}


def _image(entry: Mapping[str, Any], url: str) -> str | None:
    thumbnails = [one.get("url") for one in _records(entry, "media_thumbnail")]
    own = _record(entry, "image").get("href")
    return next((found for one in (*thumbnails, own) if (found := to_address(one, url))), None)


def _records(where: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the entries of a list. Broken markup makes feedparser put values of any kind anywhere."""
    values = where.get(name)
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


def _record(where: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = where.get(name)
    return value if isinstance(value, Mapping) else {}
