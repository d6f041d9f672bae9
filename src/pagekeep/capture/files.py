"""A page that someone has as a file: where it is from is mostly written in it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from pagekeep import dom
from pagekeep.model import Fetched

_ADDRESS: Final = re.compile(rb"(?:saved from url=\([0-9]{1,6}\)|\burl: )(https?://[^\s\"'<>]{1,2000})")
"""What browsers and SingleFile note at the top."""
_NOTED: Final = 4_000
_TEXTS: Final = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain"}


def page_in_file(body: bytes, name: str) -> Fetched:
    """The page as if it had been fetched. One that does not say where it is from goes by its name."""
    suffix = f".{name.rpartition('.')[2].lower()}"
    kind = _TEXTS.get(suffix, "text/html")
    url = (
        _noted(body) or _named(body) if kind == "text/html" else None
    ) or f"https://file.invalid/{quote(name, safe='')}"
    return Fetched(
        url=url, final_url=url, status=200, headers={}, body=body, content_type=kind, rendered=kind == "text/html"
    )


def _noted(body: bytes) -> str | None:
    found = _ADDRESS.search(body[:_NOTED])
    return found[1].decode("ascii", "ignore") if found else None


def _named(body: bytes) -> str | None:
    """By the page itself."""
    head = body[:200_000].decode("utf-8", "replace")
    root = dom.parse(head)
    link, meta = dom.first(root, "link[rel=canonical][href]"), dom.first(root, 'meta[property="og:url"][content]')
    said = (dom.attributes(link).get("href") if link else None, dom.attributes(meta).get("content") if meta else None)
    return next((url.strip() for url in said if url and url.strip().startswith(("http://", "https://"))), None)
