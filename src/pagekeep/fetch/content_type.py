"""The content type of a response: the declared one if it can be trusted, else detected from the first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pagekeep.errors import UnsupportedContent

HTML: Final = "text/html"
XHTML: Final = "application/xhtml+xml"
PLAIN: Final = "text/plain"
PDF: Final = "application/pdf"
PAGE_TYPES: Final = frozenset({HTML, XHTML, PLAIN, "text/markdown", "text/x-markdown"})
_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
DOCUMENT_TYPES: Final = frozenset(
    (
        *(
            "application/pdf",
            "application/x-pdf",
            "application/epub+zip",
            "application/zip",
            "application/x-zip-compressed",
        ),
        *(f"{_OPEN_XML}wordprocessingml.document", f"{_OPEN_XML}wordprocessingml.template"),
        "application/vnd.ms-word.document.macroenabled.12",
        *(f"{_OPEN_XML}spreadsheetml.sheet", f"{_OPEN_XML}presentationml.presentation"),
        *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
        *("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template"),
        *("application/rtf", "text/rtf", "application/x-rtf", "text/richtext"),
        *("text/vtt", "application/x-subrip", "text/srt", "application/srt"),
        "message/rfc822",
        *("text/csv", "application/csv", "text/x-csv", "text/tab-separated-values"),
    )
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
