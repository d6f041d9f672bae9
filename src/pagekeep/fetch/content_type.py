"""What kind of thing a server sent: its declared type where that can be believed, else a look at its first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pagekeep.errors import UnsupportedContent

HTML: Final = "text/html"
XHTML: Final = "application/xhtml+xml"
PLAIN: Final = "text/plain"
PAGES: Final = frozenset({HTML, XHTML, PLAIN, "text/markdown", "text/x-markdown"})
UNTOLD: Final = frozenset({"", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown", "*/*"})
"""Types that say nothing, or that may well be XHTML: the bytes decide."""

_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"',]+)", re.IGNORECASE)
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf|\s|<\?xml[^>]*>|<!--.*?-->)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|article|main|h1|div|p|table|a|b|br|font|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT: Final = 1024


def media_type(headers: Mapping[str, str]) -> str:
    """The declared type in lower case, without parameters; empty when there is none."""
    return headers.get("content-type", "").partition(";")[0].partition(",")[0].strip().lower()


def charset(headers: Mapping[str, str]) -> str | None:
    """The character set the transport names."""
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else None


def refuse_other(declared: str) -> None:
    """`UnsupportedContent` when the declared type alone says that this is no page, before anything is read."""
    if declared not in PAGES and declared not in UNTOLD:
        raise UnsupportedContent(f"The address leads to {_in_words(declared)}, not to a page.")


def page_type(declared: str, body: bytes) -> str:
    """The type of a page, seen at its first bytes where the server told nothing; `UnsupportedContent` for no page."""
    if declared in PAGES:
        return declared
    start = body[:_LOOKED_AT]
    if _MARKUP.match(start) or start.startswith(_UTF_16):
        return XHTML if declared.endswith("xml") else HTML
    if declared.endswith("xml") or _BINARY.search(start) or start.startswith(b"%PDF-"):
        raise UnsupportedContent("The address leads to something that is not a page.")
    return PLAIN


def _in_words(declared: str) -> str:
    family = declared.partition("/")[0]
    if declared == "application/pdf":
        return "a PDF"
    if family in ("image", "audio", "video", "font"):
        return {"image": "an image", "audio": "a sound", "video": "a video", "font": "a font"}[family]
    return f"`{declared[:60]}`" if declared[:60].isprintable() else "something else"
