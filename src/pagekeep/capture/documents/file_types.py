"""The file types that are read besides HTML, each recognised by its content, never by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pagekeep.capture.documents import recognise
from pagekeep.errors import UnsupportedContent
from pagekeep.model import Options
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

        from pagekeep.capture.documents.refusals import UnreadableFile

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


FILE_TYPES: Final = (
    FileType("PDF", "application/pdf", "pdf", recognise.is_pdf, "pdf", "documents", other_types=("application/x-pdf",)),
    FileType("e-mail", "message/rfc822", "eml", recognise.is_email, "email"),
    FileType(
        "DOCX",
        f"{_OPEN_XML}.wordprocessingml.document",
        "docx",
        recognise.is_docx,
        "docx",
        other_suffixes=("docm", "dotx"),
    ),
    FileType("ODT", "application/vnd.oasis.opendocument.text", "odt", recognise.is_odt, "odt", other_suffixes=("ott",)),
    FileType("EPUB", "application/epub+zip", "epub", recognise.is_epub, "epub"),
    FileType("RTF", "application/rtf", "rtf", recognise.is_rtf, "rtf", other_types=("text/rtf",)),
    FileType("WebVTT file", "text/vtt", "vtt", recognise.is_vtt, "subtitles"),
    FileType(
        "SubRip file",
        "application/x-subrip",
        "srt",
        recognise.is_srt,
        "subtitles",
        other_types=("text/srt", "application/srt"),
    ),
    FileType(
        "CSV",
        "text/csv",
        "csv",
        recognise.is_text,
        "delimited",
        other_types=("application/csv", "text/x-csv"),
        by_name=True,
    ),
    FileType(
        "TSV", "text/tab-separated-values", "tsv", recognise.is_text, "delimited", other_suffixes=("tab",), by_name=True
    ),
    FileType(
        "Markdown file",
        "text/markdown",
        "md",
        recognise.is_text,
        "markdown",
        other_types=("text/x-markdown",),
        other_suffixes=("markdown", "mdown", "mkd"),
        by_name=True,
    ),
    FileType("text file", "text/plain", "txt", recognise.is_text, "plain", other_suffixes=("text",), by_name=True),
)
"""Every type, in the order in which they are tried. A new type adds its line here and its module beside this one."""
_NOT_READ: Final = (
    FileType("Office file", "application/msword", "doc", recognise.is_compound, "older_office"),
    FileType("Office file", f"{_OPEN_XML}.spreadsheetml.sheet", "xlsx", recognise.is_other_office, "older_office"),
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
    sample = recognise.take_sample(data)
    by_content = next((one for one in (*FILE_TYPES, *_NOT_READ) if not one.by_name and one.matches(sample)), None)
    if by_content or not declared:
        return by_content
    named = (one for one in FILE_TYPES if one.by_name and declared in (one.content_type, *one.other_types))
    return next((one for one in named if one.matches(sample)), None)


def declared_type(name: str) -> str | None:
    """Return the content type of a file by the end of its name, or by the name of a type; `None` for any other file."""
    return SUFFIXES.get(name.rpartition(".")[2].lower())
