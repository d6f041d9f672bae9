"""JSON Feed 1.0 and 1.1 (jsonfeed.org); fields of the wrong type are left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pagekeep.library.feeds.parse.fields import MAX_LISTED, text_to_html, to_address, to_author, to_text, to_time
from pagekeep.library.feeds.parse.values import MAX_ENTRIES, ParsedEntry, ParsedFeed

_VERSION: Final = "jsonfeed.org/version/"


def read(text: str, url: str) -> ParsedFeed | None:
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
        hub=_hub(document, url),
        next_url=to_address(document.get("next_url"), url),
        entries=tuple(_entry(item, document, url) for item in items),
    )


def _hub(document: dict[str, Any], url: str) -> str | None:
    hubs = document.get("hubs")
    found = [to_address(hub.get("url"), url) for hub in hubs if isinstance(hub, dict)] if isinstance(hubs, list) else []
    return next(filter(None, found), None)


def _entry(item: dict[str, Any], document: dict[str, Any], url: str) -> ParsedEntry:
    identifier = item.get("id")
    guid = str(identifier).strip() if isinstance(identifier, (str, int, float)) else ""
    external = to_address(item.get("external_url"), url)
    address = to_address(item.get("url"), url) or external
    if address is None and guid.startswith(("http://", "https://")):
        address = to_address(guid, url)
    html, summary = _body(item), text_to_html(_string(item.get("summary")))
    return ParsedEntry(
        guid=guid,
        title=to_text(item.get("title")),
        url=address,
        author=_authors(item) or _authors(document),
        published_at=to_time(item.get("date_published"), item.get("date_modified")),
        html=html or summary,
        base=address or url,
        summary=summary if html else "",
        extra=dict(_extra(item, url, external if external != address else None)),
    )


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _body(item: dict[str, Any]) -> str:
    return _string(item.get("content_html")).strip() or text_to_html(_string(item.get("content_text")))


def _authors(where: dict[str, Any]) -> str | None:
    listed = where.get("authors")
    authors = listed if isinstance(listed, list) else [where.get("author")]
    named = [one.get("name") if isinstance(one, dict) else one for one in authors[:MAX_LISTED]]
    names = [name for one in named if (name := to_author(one))]
    return ", ".join(dict.fromkeys(names)) or None


def _extra(item: dict[str, Any], url: str, external: str | None) -> Iterator[tuple[str, Any]]:
    tags = item.get("tags")
    if isinstance(tags, list) and (found := [tag for one in tags[:MAX_LISTED] if (tag := to_text(one))]):
        yield "categories", list(dict.fromkeys(found))
    if enclosures := list(_enclosures(item, url)):
        yield "enclosures", enclosures
    if image := to_address(item.get("image") or item.get("banner_image"), url):
        yield "image", image
    if external:
        yield "about", external


def _enclosures(item: dict[str, Any], url: str) -> Iterator[dict[str, Any]]:
    attachments = item.get("attachments")
    for one in attachments[:MAX_LISTED] if isinstance(attachments, list) else ():
        address = to_address(one.get("url"), url) if isinstance(one, dict) else None
        if address is not None:
            size = one.get("size_in_bytes")
            known = {"url": address, "type": to_text(one.get("mime_type")), "title": to_text(one.get("title"))}
            if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 10**15:
                known["bytes"] = str(size)
            yield {name: value for name, value in known.items() if value}
