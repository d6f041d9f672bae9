"""How the file types are recognised by their content."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.text import compile_lazily

_MAGIC_BYTES: Final = 1_024
"""Where the header of a PDF is looked for, as Acrobat does: mail programs and servers put lines before it."""
_INDEX_BYTES: Final = 200_000
"""At the end of a ZIP archive, where the list of its files is."""
_ZIP: Final = b"PK\x03\x04"
_ZIP_END: Final = b"PK\x05\x06"
_MIMETYPE_BYTES: Final = 100
_COMPOUND: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How files of Microsoft's older programs begin, and newer ones with a password."""
_PAGE_START: Final = compile_lazily(
    rb"(?:\xef\xbb\xbf|\s|<\?xml[^>]*>|<!--.*?-->)*<(?:!doctype\s+html|html[\s>])", re.I | re.S
)
_MIN_MAIL_HEADERS: Final = 2
"""Of the names below, at the beginning of a message: one alone begins many a text."""
_MAIL_START: Final = compile_lazily(rb"(?:From [^\r\n]{1,200}\r?\n)?[A-Za-z][A-Za-z0-9-]{1,60}:[ \t\r\n]")
_MAIL_HEADER: Final = compile_lazily(
    rb"(?:^|\n)(From|To|Subject|Message-ID|Received|Return-Path|Delivered-To|MIME-Version|Content-Type|Reply-To|Envelope-To|"
    rb"DKIM-Signature|ARC-Seal|X-Received|Authentication-Results|List-Id|List-Unsubscribe|X-Mailer|In-Reply-To):",
    re.I,
)


def take_sample(data: bytes) -> bytes:
    """Return what the type of a file is recognised by: its start and, of a ZIP archive, also its end."""
    start = bytes(data[:_MAGIC_BYTES])
    return start + bytes(data[_MAGIC_BYTES:][-_INDEX_BYTES:]) if start.startswith(_ZIP) else start


def is_text(sample: bytes) -> bool:
    """Return whether text that its name says is of a type is not a whole page of HTML."""
    return not _PAGE_START.match(sample)


def is_pdf(sample: bytes) -> bool:
    header = sample.find(b"%PDF-", 0, _MAGIC_BYTES)
    # Behind text it must not be a page that writes about PDF, nor in an archive a file that is packed with it.
    return header == 0 or (header > 0 and b"<" not in sample[:header] and not sample.startswith(_ZIP))


def is_email(start: bytes) -> bool:
    """Return whether a file begins with headers, of which at least two are those of mail."""
    if not start[:1].isalpha():
        return False
    head = _MAIL_START.match(start)
    if head is None or b"Snapshot-Content-Location:" in start:  # a page that a browser saved as MHTML
        return False
    return len({name.lower() for name in _MAIL_HEADER.findall(start)}) >= _MIN_MAIL_HEADERS


def _list_files(sample: bytes) -> bytes:
    """Return the list of files at the end of a ZIP archive; of a damaged one, everything that there is.

    Not the lists of archives within it: a ZIP of office files is not one of them.
    """
    end = sample.rfind(_ZIP_END)
    if end < 0:
        return sample
    size = int.from_bytes(sample[end + 12 : end + 16], "little")
    return sample[max(0, end - size) : end]


def _first_text(sample: bytes) -> bytes:
    """Return the beginning of the file `mimetype`, which names the type of an archive if it is its first file."""
    if not sample.startswith(_ZIP) or sample[30:38] != b"mimetype":
        return b""
    start = 38 + int.from_bytes(sample[28:30], "little")
    return sample[start : start + _MIMETYPE_BYTES]


def is_docx(sample: bytes) -> bool:
    return sample.startswith(_ZIP) and all(part in _list_files(sample) for part in (b"word/", b"[Content_Types].xml"))


def is_odt(sample: bytes) -> bool:
    if (named := _first_text(sample)).startswith(b"application/"):
        return named.startswith(b"application/vnd.oasis.opendocument.text")
    names = _list_files(sample) if sample.startswith(_ZIP) else b""
    return b"content.xml" in names and b"META-INF/manifest.xml" in names  # some programs pack the name of the type


def is_epub(sample: bytes) -> bool:
    is_named = _first_text(sample).startswith(b"application/epub+zip")
    return is_named or (sample.startswith(_ZIP) and b"META-INF/container.xml" in _list_files(sample))


def is_rtf(sample: bytes) -> bool:
    return sample.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf")


def is_compound(sample: bytes) -> bool:
    return sample.startswith(_COMPOUND)


def is_other_office(sample: bytes) -> bool:
    if any(name in _first_text(sample) for name in (b"opendocument.spreadsheet", b"opendocument.presentation")):
        return True
    parts = (b"xl/workbook", b"ppt/presentation")
    return sample.startswith(_ZIP) and any(part in _list_files(sample) for part in parts)


def is_vtt(sample: bytes) -> bool:
    return sample.removeprefix(b"\xef\xbb\xbf").startswith((b"WEBVTT\n", b"WEBVTT\r", b"WEBVTT ", b"WEBVTT\t"))


def is_srt(sample: bytes) -> bool:
    first, second, *_ = [*sample.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 2), b"", b""]
    return first.strip().isdigit() and b"-->" in second and second[:2].isdigit() and b":" in second
