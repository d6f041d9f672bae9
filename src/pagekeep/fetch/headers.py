"""Check and read headers, and find the content type of a response: the declared one if it can be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pagekeep.errors import FetchError, UnsupportedContent

CLIENT_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"}
)
"""Headers that only the client may set: it relies on their values."""

MAX_HEADERS: Final = 100
"""Headers of a response that are stored; real ones have about 20."""
MAX_HEADER_CHARS: Final = 4_000
"""Longer values are cut: the longest real ones are content security policies."""
_MAX_HEADER_NAME_CHARS: Final = 100
_PRIVATE_HEADERS: Final = frozenset({"set-cookie", "set-cookie2"})
"""Headers that may hold a session of the user. An archive is made to be shared."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile("[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIE_VALUE = re.compile("[^\x00-\x1f\x7f;\ud800-\udfff]*")


class Headers:
    """The headers of a response. Cookies are separate: they are used during the fetch and never stored with the page."""

    def __init__(self, raw: Sequence[tuple[bytes, bytes]]) -> None:
        fields: dict[str, str] = {}
        self.cookies: list[str] = []
        for key, value in raw:
            name, text = key.decode("latin-1").lower(), _decode(value)
            if name == "set-cookie":
                self.cookies.append(text)
            else:
                fields[name] = f"{fields[name]}, {text}" if name in fields else text
        self.fields: Mapping[str, str] = fields


def _decode(value: bytes) -> str:
    """Decode a header value as UTF-8, which servers send (redirects to `/straße`), else as the standard's latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def check_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return a caller's headers with lower-case names; raise `FetchError` for one that cannot be sent."""
    lowered = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    for name, value in lowered.items():
        if name in CLIENT_HEADERS or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise FetchError(f"The header {name!r:.60} cannot be sent.", suggestions=("Remove this header.",))
    return lowered


def check_cookies(cookies: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return a caller's cookies; raise `FetchError` for one that cannot be sent."""
    for name, value in (cookies or {}).items():
        if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise FetchError(f"The cookie {name!r:.60} cannot be sent.", suggestions=("Remove this cookie.",))
    return cookies or {}


def keep_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a response that are stored with its page, within limits and without cookies."""
    kept: dict[str, str] = {}
    for name, value in list(headers.items())[:MAX_HEADERS]:
        lower = name.lower()
        if len(name) <= _MAX_HEADER_NAME_CHARS and lower not in _PRIVATE_HEADERS:
            kept[lower] = value[:MAX_HEADER_CHARS]
    return kept


HTML: Final = "text/html"
XHTML: Final = "application/xhtml+xml"
PLAIN: Final = "text/plain"
PDF: Final = "application/pdf"
PAGE_TYPES: Final = frozenset({HTML, XHTML, PLAIN, "text/markdown", "text/x-markdown"})
_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
DOCUMENT_TYPES: Final = frozenset(
    "application/pdf application/x-pdf application/epub+zip application/zip application/x-zip-compressed "
    f"{_OPEN_XML}wordprocessingml.document {_OPEN_XML}wordprocessingml.template "
    "application/vnd.ms-word.document.macroenabled.12 "
    f"{_OPEN_XML}spreadsheetml.sheet {_OPEN_XML}presentationml.presentation "
    "application/msword application/vnd.ms-excel application/vnd.ms-powerpoint "
    "application/vnd.oasis.opendocument.text application/vnd.oasis.opendocument.text-template "
    "application/rtf text/rtf application/x-rtf text/richtext text/vtt application/x-subrip text/srt application/srt "
    "message/rfc822 text/csv application/csv text/x-csv text/tab-separated-values".split()
)
"""Files that are read besides pages; the bytes decide here too, as a server may send a page under such a type."""
_PDF_TYPES: Final = frozenset({"application/pdf", "application/x-pdf"})
_TEXT_DOCUMENT_TYPES: Final = frozenset(
    one for one in DOCUMENT_TYPES if one.startswith(("text/", "message/")) or one.endswith(("csv", "subrip", "srt"))
)
"""Documents that look like any other text."""
_ARCHIVE_TYPES: Final = frozenset({"application/zip", "application/x-zip-compressed"})
_ARCHIVED_PARTS: Final = (b"[Content_Types].xml", b"META-INF/container.xml", b"content.xml")
"""Files in the archive that an office file or a book is."""
_INDEX_BYTES: Final = 200_000
_DOCUMENT_STARTS: Final = (b"%PDF-", b"PK\x03\x04", b"{\\rtf", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""PDF, ZIP archives (office files and books), RTF, and Microsoft's older files."""
VAGUE_TYPES: Final = frozenset(
    {"", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown", "*/*"}
)
"""Types that say nothing, or that may be XHTML: the bytes decide."""

_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"',]+)", re.IGNORECASE)
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf|\s|<\?xml[^>]*>|<!--.*?-->)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|article|main|h1|div|p|table|a|b|br|font|iframe)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SNIFFED_BYTES: Final = 1024
"""Bytes at the start of a body by which its type is detected."""
_MAX_TYPE_SHOWN: Final = 60


def media_type(headers: Mapping[str, str]) -> str:
    """Return the declared type in lower case, without parameters; empty when there is none."""
    return headers.get("content-type", "").partition(";")[0].partition(",")[0].strip().lower()


def charset(headers: Mapping[str, str]) -> str | None:
    """Return the character set in the Content-Type header."""
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1].lower() if match else None


def refuse_non_page(declared: str, *, documents: bool = False) -> None:
    """Raise `UnsupportedContent` when the declared type is not a page, before the body is read; `documents` pass if true."""
    if declared not in PAGE_TYPES | VAGUE_TYPES and not (documents and declared in DOCUMENT_TYPES):
        raise UnsupportedContent(f"The URL leads to {_describe(declared)}, not a page.")


def page_type(declared: str, body: bytes) -> str:
    """Return the type of a page, detected when the declared one is vague; raise `UnsupportedContent`.

    That of a document may stay vague: what it is, its reader finds out.
    """
    start = body[:_SNIFFED_BYTES]
    if start.startswith(b"%PDF-") or (declared in _PDF_TYPES and b"%PDF-" in start):
        return PDF
    if start.startswith(_DOCUMENT_STARTS):
        if start.startswith(b"PK") and not any(part in body[-_INDEX_BYTES:] for part in _ARCHIVED_PARTS):
            raise UnsupportedContent("The URL leads to an archive, not a page.")
        return declared if declared in DOCUMENT_TYPES - _PDF_TYPES else "application/octet-stream"
    if declared in _ARCHIVE_TYPES:
        raise UnsupportedContent("The URL does not lead to a page.")
    if declared in PAGE_TYPES:
        return declared
    if declared in _TEXT_DOCUMENT_TYPES and not _BINARY.search(start) and not _MARKUP.match(start):
        return declared
    if _MARKUP.match(start) or start.startswith(_UTF_16):
        return XHTML if declared.endswith("xml") else HTML
    if declared.endswith("xml") or _BINARY.search(start):
        raise UnsupportedContent("The URL does not lead to a page.")
    return PLAIN


def _describe(declared: str) -> str:
    family = declared.partition("/")[0]
    if declared in _PDF_TYPES:
        return "a PDF"
    if family in ("image", "audio", "video", "font"):
        return {"image": "an image", "audio": "an audio file", "video": "a video", "font": "a font"}[family]
    name = declared[:_MAX_TYPE_SHOWN]
    return f"a file of type `{name}`" if name.isprintable() else "a file"
