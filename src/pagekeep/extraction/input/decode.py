"""Bytes to text, the way a browser and good sense would: BOM, transport, `<meta>`, then the content itself."""

from __future__ import annotations

import codecs
import re
from typing import Final

from pagekeep import dom
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent
from pagekeep.model import Options, PageWarning

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
_LOOKED_AT: Final = 4_096
_BLANK: Final = "\ufeff\0 \t\r\n\f"
_MAX_CONTROL_SHARE: Final = 0.1
_DECLARATION: Final = re.compile(rb"charset", re.IGNORECASE)
_TEXT_CONTROLS: Final = bytes([7, 8, 9, 10, 12, 13, 27])
_CONTROLS: Final = bytes(code for code in range(32) if code not in _TEXT_CONTROLS)


def decode(html: str | bytes, options: Options) -> tuple[str, tuple[PageWarning, ...]]:
    """Return the page as text, and warnings for the trace. Raise `TooLarge`, `UnsupportedContent` or `ParseError`."""
    size = len(html)
    if size > options.max_bytes:
        megabytes = f"{size / 1e6:.1f} MB, over the limit of {options.max_bytes / 1e6:g} MB"
        raise TooLarge(f"The page is too large: {megabytes}.")
    text, warnings = _from_bytes(html, options) if isinstance(html, bytes) else (_without_surrogates(html), ())
    if not text[:_LOOKED_AT].strip(_BLANK) and not text.strip(_BLANK):
        raise ParseError("The page is empty.")
    return text, warnings


def _from_bytes(data: bytes, options: Options) -> tuple[str, tuple[PageWarning, ...]]:
    _refuse_binary(data)
    if not data.startswith(_BOMS):
        # ISO-2022 and HZ are seven-bit: an escape byte means that ASCII is not what it seems.
        if b"\x1b" not in data:
            try:
                return data.decode("utf-8"), ()
            except UnicodeDecodeError:
                pass
        named = _by_label(data, options.encoding)
        if named is not None:
            return named, (PageWarning("encoding", f"decoded as {options.encoding}, as the server said"),)
    return _by_content(data)


def _by_label(data: bytes, label: str | None) -> str | None:
    """The text in the encoding the transport named, unless that is unknown or plainly wrong."""
    decoded = dom.decode(data, label) if label else None
    if decoded is None or decoded[0].count("\ufffd") > _tolerated(decoded[0]):
        return None
    return decoded[0]


def _by_content(data: bytes) -> tuple[str, tuple[PageWarning, ...]]:
    text, name = dom.decode(data) or ("", "")
    if name == "utf-8" and text.count("\ufffd") > _tolerated(text):
        # Declared as UTF-8 and is not: believe the bytes.
        head = _DECLARATION.sub(b"undeclared", data[:_LOOKED_AT])
        _, name = dom.decode(head + data[_LOOKED_AT:]) or (text, name)
        text, name = dom.decode(data, name) or (text, name)
    return text.removeprefix("\ufeff"), (PageWarning("encoding", f"decoded as {name}"),)


def _tolerated(text: str) -> int:
    """Broken characters that a page may hold and still be in the encoding it claims."""
    return 3 + len(text) // 2_000


def _refuse_binary(data: bytes) -> None:
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise UnsupportedContent(f"This is {what}, not a web page.")
    head = data[:_LOOKED_AT]
    if head.startswith(_BOMS) or b"<" in head:
        return
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _MAX_CONTROL_SHARE * len(head):
        raise UnsupportedContent("This is a binary file, not a web page.")


def _without_surrogates(text: str) -> str:
    """Lone surrogates are no characters and cannot be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
