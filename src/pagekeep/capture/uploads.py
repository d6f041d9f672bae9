"""Turn pages that the user already has, as sent HTML or as a file, into the same value as a fetched page."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from pagekeep import dom
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched

_SAVED_FROM: Final = re.compile(rb"(?:saved from url=\([0-9]{1,6}\)|\burl: )(https?://[^\s\"'<>]{1,2000})")
"""The comment with the URL that browsers and SingleFile write at the top of a saved page."""
_COMMENT_BYTES: Final = 4_000
"""Where that comment is looked for."""
_HEAD_BYTES: Final = 200_000
"""Where the canonical URL is looked for."""
_TEXT_TYPES: Final = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain"}


def sent_page(url: str, html: str, *, rendered: bool = True, selection: str | None = None) -> Fetched:
    """Return the HTML that a user sent as a page; with a `selection`, only that part with the head of the page.

    Raises `InvalidUrl` or `InvalidProtocol`. An empty `url` means a page without one.
    """
    if url:
        split_url(url)
    content = html if not selection else _wrap_selection(html, selection)
    return Fetched(
        url=url,
        final_url=url,
        status=200,
        headers={},
        body=content.encode("utf-8", "replace"),
        encoding="utf-8",
        rendered=rendered,
    )


def _wrap_selection(html: str, selection: str) -> str:
    """Return the selection as a page, with the head of the whole page for its metadata."""
    head = dom.first(dom.parse(html), "head")
    inner = dom.inner_html(head) if head else ""
    return f"<!doctype html><html><head>{inner}</head><body><main><article>{selection}</article></main></body></html>"


def page_in_file(body: bytes, name: str) -> Fetched:
    """Return the content of a file as a page; a file that does not contain its URL gets one from its name."""
    content_type = _TEXT_TYPES.get(f".{name.rpartition('.')[2].lower()}", "text/html")
    is_html = content_type == "text/html"
    url = (_saved_from(body) or _canonical_url(body)) if is_html else None
    url = url or f"https://file.invalid/{quote(name, safe='')}"
    return Fetched(
        url=url, final_url=url, status=200, headers={}, body=body, content_type=content_type, rendered=is_html
    )


def _saved_from(body: bytes) -> str | None:
    match = _SAVED_FROM.search(body[:_COMMENT_BYTES])
    return match[1].decode("ascii", "ignore") if match else None


def _canonical_url(body: bytes) -> str | None:
    root = dom.parse(body[:_HEAD_BYTES].decode("utf-8", "replace"))
    link, meta = dom.first(root, "link[rel=canonical][href]"), dom.first(root, 'meta[property="og:url"][content]')
    urls = (dom.attributes(link).get("href") if link else None, dom.attributes(meta).get("content") if meta else None)
    return next((url.strip() for url in urls if url and url.strip().startswith(("http://", "https://"))), None)
