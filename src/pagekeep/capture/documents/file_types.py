"""The file types that are read besides HTML, each recognised by its content, never by its name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pagekeep.errors import UnsupportedContent
from pagekeep.model import Options
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.capture.documents.parsed import ParsedDocument


_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument"


@dataclass(frozen=True, slots=True)
class FileType:
    """A type of file: how to recognise it, and the module that reads it."""

    name: str
    """As in messages: "PDF"."""
    content_type: str
    suffix: str
    """The usual end of a file name, without the dot."""
    matches: Callable[[bytes], bool]
    """Whether a file is of this type, by the sample that `recognise.take_sample` returns."""
    module: str
    """Module below `documents` whose `read(data, url, options)` returns a `ParsedDocument`."""
    extra: str | None = None
    """Optional part of the installation that the module needs."""
    other_types: tuple[str, ...] = ()
    """More content types under which servers send it."""
    other_suffixes: tuple[str, ...] = ()
    """More ends of file names."""
    by_name: bool = False
    """Whether its content looks like any text, as that of a CSV: only the declared type or the file's name decides."""

    def read(self, data: bytes, url: str | None, options: Options) -> ParsedDocument:
        """Parse the file; only for worker processes. Raise `UnsupportedContent` when the part that reads it is missing.

        A module raises `UnreadableFile` for a file without text that it can read; that becomes a document that says why.
        """
        from importlib import import_module

        from pagekeep.capture.documents.parsed import UnreadableFile

        try:
            module = import_module(f"pagekeep.capture.documents.{self.module}")
            parsed: ParsedDocument = module.read(data, url, options)
        except UnreadableFile as refusal:
            return refusal.to_document(self.name)
        except ImportError as error:
            from pagekeep import extras  # nothing is installed from inside a worker: `require` does that

            hint = (f"To install: {extras.install_command(self.extra)}",) if self.extra else ()
            text = f"Reading a {self.name} needs a package that is not installed."
            raise UnsupportedContent(text, suggestions=hint) from error
        return parsed

    def require(self) -> None:
        """Install the part that reads this type if it is missing; raise `UnsupportedContent` where that is not possible.

        Before a worker gets the file: installing takes longer than a worker may.
        """
        if self.extra:
            from pagekeep import extras  # for the first document: it takes as long to load as a small page to extract

            extras.require(self.extra, f"Reading a {self.name}", error=UnsupportedContent)


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


def is_vtt(sample: bytes) -> bool:
    return sample.removeprefix(b"\xef\xbb\xbf").startswith((b"WEBVTT\n", b"WEBVTT\r", b"WEBVTT ", b"WEBVTT\t"))


def is_srt(sample: bytes) -> bool:
    first, second, *_ = [*sample.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 2), b"", b""]
    return first.strip().isdigit() and b"-->" in second and second[:2].isdigit() and b":" in second


FILE_TYPES: Final = (
    FileType("PDF", "application/pdf", "pdf", is_pdf, "pdf", "documents", other_types=("application/x-pdf",)),
    FileType("e-mail", "message/rfc822", "eml", is_email, "email"),
    FileType(
        "DOCX",
        f"{_OPEN_XML}.wordprocessingml.document",
        "docx",
        is_docx,
        "docx",
        other_suffixes=("docm", "dotx"),
    ),
    FileType("ODT", "application/vnd.oasis.opendocument.text", "odt", is_odt, "odt", other_suffixes=("ott",)),
    FileType("EPUB", "application/epub+zip", "epub", is_epub, "epub"),
    FileType("RTF", "application/rtf", "rtf", is_rtf, "rtf", other_types=("text/rtf",)),
    FileType("WebVTT file", "text/vtt", "vtt", is_vtt, "subtitles"),
    FileType(
        "SubRip file",
        "application/x-subrip",
        "srt",
        is_srt,
        "subtitles",
        other_types=("text/srt", "application/srt"),
    ),
    FileType(
        "CSV",
        "text/csv",
        "csv",
        is_text,
        "delimited",
        other_types=("application/csv", "text/x-csv"),
        by_name=True,
    ),
    FileType("TSV", "text/tab-separated-values", "tsv", is_text, "delimited", other_suffixes=("tab",), by_name=True),
    FileType(
        "Markdown file",
        "text/markdown",
        "md",
        is_text,
        "markdown",
        other_types=("text/x-markdown",),
        other_suffixes=("markdown", "mdown", "mkd"),
        by_name=True,
    ),
    FileType("text file", "text/plain", "txt", is_text, "plain", other_suffixes=("text",), by_name=True),
)
"""Every type, in the order in which they are tried. A new type adds its line here and its module beside this one."""


def is_compound(sample: bytes) -> bool:
    return sample.startswith(_COMPOUND)


def is_other_office(sample: bytes) -> bool:
    if any(name in _first_text(sample) for name in (b"opendocument.spreadsheet", b"opendocument.presentation")):
        return True
    parts = (b"xl/workbook", b"ppt/presentation")
    return sample.startswith(_ZIP) and any(part in _list_files(sample) for part in parts)


_NOT_READ: Final = (
    FileType("Office file", "application/msword", "doc", is_compound, "older_office"),
    FileType("Office file", f"{_OPEN_XML}.spreadsheetml.sheet", "xlsx", is_other_office, "older_office"),
)
"""Types that are recognised to say what to do instead."""


PAGE_TYPES: Final = {
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
}
"""What is read besides documents: ends of file names to content types."""
SUFFIXES: Final[dict[str, str]] = PAGE_TYPES | {
    suffix: one.content_type for one in FILE_TYPES for suffix in (one.suffix, *one.other_suffixes)
}
"""Ends of file names of everything that is read, to content types."""
TYPE_NAMES: Final = ("html", "text", "markdown", *(one.suffix for one in FILE_TYPES if one.suffix not in ("txt", "md")))
"""The names of types for users: keys of `SUFFIXES`."""


def detect(data: bytes, declared: str | None = None) -> FileType | None:
    """Return the type of a file by its content; `None` for HTML, text and everything else.

    `declared` is the content type by its server, its user or its name. It decides only where the content cannot.
    """
    sample = take_sample(data)
    by_content = next((one for one in (*FILE_TYPES, *_NOT_READ) if not one.by_name and one.matches(sample)), None)
    if by_content or not declared:
        return by_content
    named = (one for one in FILE_TYPES if one.by_name and declared in (one.content_type, *one.other_types))
    return next((one for one in named if one.matches(sample)), None)


def declared_type(name: str) -> str | None:
    """Return the content type of a file by the end of its name, or by the name of a type; `None` for any other file."""
    return SUFFIXES.get(name.rpartition(".")[2].lower())


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
