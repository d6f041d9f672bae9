"""Documents such as PDFs, in an export or by themselves: recognised by content, and kept as pages that were fetched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.capture.documents.file_types import FileType, detect
from pagekeep.capture.uploads import MAIL_TYPE, file_url
from pagekeep.errors import TooLarge
from pagekeep.library.imports.input.records import Sample
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.source import Source
from pagekeep.model import RawPage


def matches(sample: Sample) -> bool:
    """Return whether the file is a document, by its content."""
    return find_type(sample.source) is not None


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield the document, under an address made of its name and content: importing it again changes nothing."""
    body, place = read_body(source), Place(0, 1, source.part)
    url = file_url(source.name, body)
    page = document_page(body, url, None)
    yield Row(place, url, page=page) if page else Fault(place, "The file is not a document.")


MAX_FILE_BYTES: Final = 40_000_000
"""The largest file that is read: a row that is handed over may have 50 MB."""
_START_BYTES: Final = 1_024
_ZIP: Final = b"PK\x03\x04"
_UNKNOWN_TIME: Final = "1970-01-01T00:00:00.000000Z"


def find_type(source: Source) -> FileType | None:
    """Return the type of a file by its content if it is a document; `None` for text, e-mail and everything else."""
    with source.open() as stream:
        start = stream.read(_START_BYTES)
        # The list of files at the end of an archive says what it is.
        data = start + stream.read(MAX_FILE_BYTES - _START_BYTES) if start.startswith(_ZIP) else start
    file_type = detect(data)
    return None if file_type is None or file_type.content_type == MAIL_TYPE else file_type


def read_body(source: Source) -> bytes:
    """Return the content of a file; raise `TooLarge` over the limit."""
    with source.open() as stream:
        body = stream.read(MAX_FILE_BYTES + 1)
    if len(body) > MAX_FILE_BYTES:
        raise TooLarge(f"The file is larger than {MAX_FILE_BYTES // 1_000_000} MB.")
    return body


def document_page(body: bytes, url: str, at: str | None, declared: str | None = None) -> RawPage | None:
    """Return a file as if it had been fetched from `url`; `None` when it is not a document."""
    file_type = detect(body, declared)
    return None if file_type is None else file_page(body, url, at, file_type.content_type)


def file_page(body: bytes, url: str, at: str | None, content_type: str) -> RawPage:
    """Return a file of a known type as if it had been fetched from `url`."""
    return RawPage(
        body=body,
        encoding=None,
        content_type=content_type,
        final_url=url,
        status=200,
        rendered=False,
        fetched_at=at or _UNKNOWN_TIME,
    )
