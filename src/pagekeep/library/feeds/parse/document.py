"""A feed's document as a value, whatever its format, with JSON Feed read here; and its entries as clean Markdown."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Any, Final

from pagekeep import dom, markdown
from pagekeep.errors import TooLarge, UnsupportedContent
from pagekeep.extraction.clean import clean
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.library.feeds.parse import xml_feed
from pagekeep.library.feeds.parse.fields import (
    MAX_LISTED,
    decode,
    text_to_html,
    to_address,
    to_author,
    to_text,
    to_time,
)
from pagekeep.model import FeedContent
from pagekeep.model.feeds import MAX_ENTRIES, CleanEntry, ParsedEntry, ParsedFeed
from pagekeep.store.query import words

MAX_BYTES: Final = 20_000_000
MAX_HTML_CHARS: Final = 1_000_000
"""Of one entry; the rest is left out."""
MAX_GUID_CHARS: Final = 2_000
"""A longer guid is replaced by its hash."""
_UNTITLED_CHARS: Final = 80
_FEED_TAG: Final = re.compile(r"<(?:\w{1,20}:)?(?:rss|feed|RDF|channel|item|entry)\b", re.I)
_PAGE_TAG: Final = re.compile(r"<!doctype html|<(?:html|head|body|title|meta|article|div|p)\b", re.I)
_SUMMARY_CHARS: Final = 2_000


def parse_feed(body: bytes, url: str, charset: str | None = None) -> ParsedFeed:
    """Return the feed in a document; raise `UnsupportedContent` when there is none."""
    if len(body) > MAX_BYTES:
        raise TooLarge(f"The feed is larger than {MAX_BYTES // 1_000_000} MB.")
    text = decode(body, charset)
    found = read_json_feed(text, url) if text.lstrip("\ufeff \t\r\n")[:1] == "{" else None
    if found is None and _FEED_TAG.search(text):
        found = xml_feed.read(text, url)
    if found is None:
        what = "a web page" if _PAGE_TAG.search(text[:2_000]) else "something else"
        raise UnsupportedContent(
            f"The address leads to {what}, not to a feed.",
            suggestions=("Give the address of an RSS, Atom or JSON feed, or of a page that names its feed.",),
        )
    return replace(found, entries=tuple(_identify(found.entries)))


def _identify(entries: tuple[ParsedEntry, ...]) -> Iterator[ParsedEntry]:
    """Yield the entries, each with its own guid and a title."""
    counts = Counter(entry.guid for entry in entries)
    for entry in entries:
        guid = entry.guid
        if not guid:
            guid = entry.url or f"{entry.title} {entry.published_at or ''}".strip() or entry.fingerprint
            if entry.url and sum(one.url == entry.url and not one.guid for one in entries[:100]) > 1:
                guid = f"{entry.url} {entry.title}"
        elif counts[guid] > 1:  # the same guid for all: it identifies nothing
            guid = f"{guid} {entry.url or ''} {entry.title}".strip()
        if len(guid) > MAX_GUID_CHARS:
            guid = hashlib.sha256(guid.encode("utf-8", "replace")).hexdigest()
        yield replace(entry, guid=guid, title=entry.title or _make_title(entry))


def _make_title(entry: ParsedEntry) -> str:
    """Return the beginning of the text, or else the address: short posts have no titles."""
    text = to_text(entry.html, html=True) if entry.html else ""
    if len(text) > _UNTITLED_CHARS:
        text = text[:_UNTITLED_CHARS].rpartition(" ")[0] + "…"
    return text or entry.url or "Untitled"


def clean_entries(
    entries: tuple[ParsedEntry, ...], content: FeedContent, include: tuple[str, ...], exclude: tuple[str, ...]
) -> list[CleanEntry | None]:
    """Return the texts of every entry; `None` for one that the user's words leave out."""
    wanted, unwanted = _phrases(include), _phrases(exclude)
    return [_clean_entry(entry, content, wanted, unwanted) for entry in entries]


def _clean_entry(entry: ParsedEntry, content: FeedContent, include: list[str], exclude: list[str]) -> CleanEntry | None:
    html = entry.html if content != "link" else (entry.summary or entry.html)
    text = to_markdown(html[:MAX_HTML_CHARS], entry.base)
    if (include or exclude) and not _passes(entry, text, include, exclude):
        return None
    if content == "link":
        return CleanEntry(_shorten(text), None)
    return CleanEntry(text, _document(entry) if entry.html else None)


def to_markdown(html: str, base: str | None) -> str:
    """Return clean Markdown of a piece of HTML."""
    root = dom.parse_fragment(html)
    dom.bound_depth(root)
    content, _ = clean(root, base)
    _, tree = sanitise(content)
    return markdown.to_markdown(tree).strip()


def _phrases(texts: tuple[str, ...]) -> list[str]:
    return [f" {' '.join(found)} " for text in texts if (found := words(text))]


def _passes(entry: ParsedEntry, text: str, include: list[str], exclude: list[str]) -> bool:
    fields = [entry.title, entry.author or "", *entry.extra.get("categories", ()), text]
    searched = f" {' '.join(' '.join(words(field)) + ' .' for field in fields)} "
    if any(phrase in searched for phrase in exclude):
        return False
    return not include or any(phrase in searched for phrase in include)


def _shorten(text: str) -> str:
    """Return the first paragraphs of a text."""
    if len(text) <= _SUMMARY_CHARS:
        return text
    cut = text[:_SUMMARY_CHARS]
    return (cut.rpartition("\n\n")[0] or cut.rpartition(" ")[0] or cut) + "\n\n…"


def _document(entry: ParsedEntry) -> str:
    """Return the entry as a page, with what the feed says about it in its head."""
    about = "".join(
        f'<meta {kind}="{name}" content="{escape(value)}">'
        for kind, name, value in (
            ("name", "author", entry.author),
            ("property", "article:published_time", entry.published_at),
            ("property", "og:image", entry.extra.get("image")),
        )
        if value
    )
    base = f'<base href="{escape(entry.base)}">' if entry.base else ""
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8">{base}<title>{escape(entry.title)}</title>{about}</head>'
        f"<body><article><h1>{escape(entry.title)}</h1>{entry.html[:MAX_HTML_CHARS]}</article></body></html>"
    )


_VERSION: Final = "jsonfeed.org/version/"


def read_json_feed(text: str, url: str) -> ParsedFeed | None:
    """Return the feed in a JSON document; `None` when it is not one."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        return None
    version = str(document.get("version") or "")
    if _VERSION not in version and not ("title" in document or "home_page_url" in document):
        return None
    items = [item for item in document["items"][:MAX_ENTRIES] if isinstance(item, dict)]
    return ParsedFeed(
        format=f"json{version.rpartition('/')[2].replace('.', '')}" if _VERSION in version else "json",
        title=to_text(document.get("title")),
        site=to_address(document.get("home_page_url"), url),
        language=to_text(document.get("language")) or None,
        hub=_json_hub(document, url),
        next_url=to_address(document.get("next_url"), url),
        entries=tuple(_json_entry(item, document, url) for item in items),
    )


def _json_hub(document: dict[str, Any], url: str) -> str | None:
    hubs = document.get("hubs")
    found = [to_address(hub.get("url"), url) for hub in hubs if isinstance(hub, dict)] if isinstance(hubs, list) else []
    return next(filter(None, found), None)


def _json_entry(item: dict[str, Any], document: dict[str, Any], url: str) -> ParsedEntry:
    identifier = item.get("id")
    guid = str(identifier).strip() if isinstance(identifier, (str, int, float)) else ""
    external = to_address(item.get("external_url"), url)
    address = to_address(item.get("url"), url) or external
    if address is None and guid.startswith(("http://", "https://")):
        address = to_address(guid, url)
    html, summary = _json_body(item), text_to_html(_json_string(item.get("summary")))
    return ParsedEntry(
        guid=guid,
        title=to_text(item.get("title")),
        url=address,
        author=_json_authors(item) or _json_authors(document),
        published_at=to_time(item.get("date_published"), item.get("date_modified")),
        html=html or summary,
        base=address or url,
        summary=summary if html else "",
        extra=dict(_json_extra(item, url, external if external != address else None)),
    )


def _json_string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _json_body(item: dict[str, Any]) -> str:
    return _json_string(item.get("content_html")).strip() or text_to_html(_json_string(item.get("content_text")))


def _json_authors(where: dict[str, Any]) -> str | None:
    listed = where.get("authors")
    authors = listed if isinstance(listed, list) else [where.get("author")]
    named = [one.get("name") if isinstance(one, dict) else one for one in authors[:MAX_LISTED]]
    names = [name for one in named if (name := to_author(one))]
    return ", ".join(dict.fromkeys(names)) or None


def _json_extra(item: dict[str, Any], url: str, external: str | None) -> Iterator[tuple[str, Any]]:
    tags = item.get("tags")
    if isinstance(tags, list) and (found := [tag for one in tags[:MAX_LISTED] if (tag := to_text(one))]):
        yield "categories", list(dict.fromkeys(found))
    if enclosures := list(_json_enclosures(item, url)):
        yield "enclosures", enclosures
    if image := to_address(item.get("image") or item.get("banner_image"), url):
        yield "image", image
    if external:
        yield "about", external


def _json_enclosures(item: dict[str, Any], url: str) -> Iterator[dict[str, Any]]:
    attachments = item.get("attachments")
    for one in attachments[:MAX_LISTED] if isinstance(attachments, list) else ():
        address = to_address(one.get("url"), url) if isinstance(one, dict) else None
        if address is not None:
            size = one.get("size_in_bytes")
            known = {"url": address, "type": to_text(one.get("mime_type")), "title": to_text(one.get("title"))}
            if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 10**15:
                known["bytes"] = str(size)
            yield {name: value for name, value in known.items() if value}
