"""Decode bytes to text like a browser, by BOM, HTTP header, `<meta>` and content; read the document type."""

from __future__ import annotations

import codecs
import re
from typing import Final

from pagekeep import dom
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent
from pagekeep.model import DocumentType, Options, PageWarning
from pagekeep.text import compile_lazily

_MAGIC: Final = {
    b"%PDF-": "a PDF",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
    b"wOF2": "a font",
    b"RIFF": "a media file",
    b"\x00\x00\x00\x18ftyp": "a video",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"SQLite format 3": "a database",
}
_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES: Final = 4_096
"""Where the encoding is declared and binary files show themselves; browsers look at the first 1,024 bytes."""
_BLANK: Final = "\ufeff\0 \t\r\n\f"
_MAX_CONTROL_SHARE: Final = 0.02
"""Share of control characters above which bytes without a well-known tag are a binary file, not text. Random bytes have
one in ten; text has none."""
_MAX_CONTROL_SHARE_OF_PAGE: Final = 0.05
"""The same for bytes with such a tag, which random bytes have once in some hundred files."""
_TAG: Final = re.compile(rb"<(?:!doctype|html|head|body|meta|title|link|script|div|p|h1|table|article|br)[\s/>]", re.I)
"""Tags that tell a page with some broken characters from a binary file."""
_BROKEN_ALLOWED: Final = 3
_CHARS_PER_BROKEN: Final = 2_000
"""A page in the encoding it claims may still contain some broken characters: three, and one more per 2,000."""
_DECLARATION: Final = compile_lazily(rb"charset", re.IGNORECASE)
_TEXT_CONTROLS: Final = bytes([7, 8, 9, 10, 12, 13, 27])
_CONTROLS: Final = bytes(code for code in range(32) if code not in _TEXT_CONTROLS)


def decode(html: str | bytes, options: Options) -> tuple[str, tuple[PageWarning, ...]]:
    """Return the page as text, and warnings for the trace. Raise `TooLarge`, `UnsupportedContent` or `ParseError`."""
    size = len(html)
    if size > options.max_bytes:
        megabytes = f"{size / 1e6:.1f} MB, over the limit of {options.max_bytes / 1e6:g} MB"
        raise TooLarge(f"The page is too large: {megabytes}.")
    text, warnings = _decode_bytes(html, options) if isinstance(html, bytes) else (_replace_surrogates(html), ())
    if not text[:_HEAD_BYTES].strip(_BLANK) and not text.strip(_BLANK):
        raise ParseError("The page is empty.")
    return text, warnings


def _decode_bytes(data: bytes, options: Options) -> tuple[str, tuple[PageWarning, ...]]:
    _refuse_binary(data)
    if not data.startswith(_BOMS):
        # ISO-2022 and HZ use seven bits: bytes with an escape are not ASCII, although they look like it.
        if b"\x1b" not in data:
            try:
                return data.decode("utf-8"), ()
            except UnicodeDecodeError:
                pass
        text = decode_by_label(data, options.encoding)
        if text is not None:
            return text, (PageWarning("encoding", f"decoded as {options.encoding}, as the server declared"),)
    return _decode_by_content(data)


def decode_by_label(data: bytes, label: str | None) -> str | None:
    """Return the text in the encoding the server named, or `None` when that is unknown or clearly wrong."""
    decoded = dom.decode(data, label) if label else None
    if decoded is None or decoded[0].count("\ufffd") > _broken_limit(decoded[0]):
        return None
    return decoded[0]


def _decode_by_content(data: bytes) -> tuple[str, tuple[PageWarning, ...]]:
    text, name = dom.decode(data) or ("", "")
    if name == "utf-8" and text.count("\ufffd") > _broken_limit(text):
        # Declared as UTF-8 but not UTF-8: detect the encoding from the bytes alone.
        head = _DECLARATION.sub(b"undeclared", data[:_HEAD_BYTES])
        _, name = dom.decode(head + data[_HEAD_BYTES:]) or (text, name)
        text, name = dom.decode(data, name) or (text, name)
    return text.removeprefix("\ufeff"), (PageWarning("encoding", f"decoded as {name}"),)


def _broken_limit(text: str) -> int:
    return _BROKEN_ALLOWED + len(text) // _CHARS_PER_BROKEN


def _refuse_binary(data: bytes) -> None:
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise UnsupportedContent(f"This is {what}, not a web page.")
    head = data[:_HEAD_BYTES]
    if head.startswith(_BOMS):
        return
    max_share, stripped = _MAX_CONTROL_SHARE, head.replace(b"\0", b"")
    if _TAG.search(stripped):
        max_share, head = _MAX_CONTROL_SHARE_OF_PAGE, stripped  # UTF-16 without a BOM has zeros
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > max_share * len(head):
        raise UnsupportedContent("This is a binary file, not a web page.")


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which are not characters and cannot be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


_SEARCHED_CHARS: Final = 2_000
"""Comments and an XML prolog may come before the doctype; a browser ignores one further down."""
_PROLOG_CHARS: Final = 200
"""Where an XML prolog must start: at the beginning, after white space at most."""
_DOCTYPE: Final = re.compile(r"<!doctype\s+([^>]{0,400})", re.IGNORECASE)

_CONTENT_TYPE: Final = 'meta[http-equiv="content-type" i]'
"""How pages before HTML5 declare their encoding."""


def document_type(html_head: str, document: dom.Document) -> DocumentType:
    """Return the document type declared at the start of the source; without one go by how the encoding is declared.

    `quirks` when nothing says what it is.
    """
    match = _DOCTYPE.search(html_head[:_SEARCHED_CHARS])
    if match is None:
        return _type_without_doctype(html_head, document)
    declared = " ".join(match[1].lower().split())
    if "xhtml" in declared:
        return "xhtml"
    if "html 4" in declared:
        return "html4-transitional" if "transitional" in declared or "frameset" in declared else "html4-strict"
    return "html5" if declared == "html" or "about:legacy-compat" in declared else "quirks"


def _type_without_doctype(html_head: str, document: dom.Document) -> DocumentType:
    """Recognise XHTML served as XML, which needs no doctype, by its prolog and namespace; else go by the `<meta>`."""
    root = dom.first(document, "html")
    has_namespace = root is not None and (root.attr("xmlns") or "").endswith("/xhtml")
    has_prolog = html_head[:_PROLOG_CHARS].lstrip("\ufeff \t\r\n").startswith("<?xml")
    if has_namespace and has_prolog:
        return "xhtml"
    if dom.first(document, "meta[charset]") is not None:  # HTML5 introduced the short form
        return "html5"
    return "quirks" if dom.first(document, _CONTENT_TYPE) is None else "html4-transitional"
