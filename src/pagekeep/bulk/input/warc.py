"""Read the pages of a WARC archive, with at most two records in memory."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, Final

from pagekeep import extras
from pagekeep.bulk.input.files import Input, open_binary
from pagekeep.bulk.input.records import Record, RefusedRecord, check_size, first_line
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.warc_frames import Frame, Gap, read_frames
from pagekeep.errors import ParseError, UnsupportedContent
from pagekeep.fetch.content_type import DOCUMENT_TYPES

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_VAGUE_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
"""Types under which documents come too: their content decides."""
_READ_TYPES: Final = HTML_TYPES | DOCUMENT_TYPES | _VAGUE_TYPES
_MAX_CODED_GROWTH: Final = 2
"""How many times larger than its page an encoded record may be: the sizes of small chunks take space."""
_MAX_HEADERS_BYTES: Final = 200_000
"""What the headers of a record may take beside its content."""


@dataclass(frozen=True, slots=True)
class _Other:
    """A record of a type that is never a page: requests, metadata."""

    kind: str


_Found = Record | RefusedRecord | _Other


@dataclass(frozen=True, slots=True)
class WarcReader:
    """Reads one archive."""

    item: Input
    max_bytes: int
    skipped: Counter[str]
    """Records that are never pages, by type."""

    def read(self, stream: IO[bytes]) -> Iterator[Record | RefusedRecord]:
        """Yield the pages; where a record does not end where it says, look for the next one from there."""
        archive, errors = _open_archive(stream)
        # A record is yielded when the next one has been found: until then its end may be wrong.
        waiting: _Found | None = None
        number, is_complete = 0, True
        while True:
            try:
                found, is_whole = self._read_record(next(archive), number)
            except StopIteration:
                break
            except errors:
                is_complete = False
                break
            yield from self._report(waiting)
            waiting, is_complete, number = found, is_whole, number + 1
        if is_complete:
            yield from self._report(waiting)
        else:
            yield from self._recover(max(0, number - 1))

    def _recover(self, done: int) -> Iterator[Record | RefusedRecord]:
        """Read a damaged archive again, from the record after those that are done. fastwarc ends at the first damage."""
        number, limit = 0, self._max_content_bytes + _MAX_HEADERS_BYTES
        try:
            for found in read_frames(partial(open_binary, self.item), self.item.name, limit):
                if number >= done:
                    yield from self._report(self._read_frame(found, number))
                number += isinstance(found, Frame) or found.is_record
        except ParseError as error:
            yield RefusedRecord(f"{self.item.name}:rest", None, error)

    @property
    def _max_content_bytes(self) -> int:
        return self.max_bytes * _MAX_CODED_GROWTH + 1

    def _report(self, found: _Found | None) -> Iterator[Record | RefusedRecord]:
        if isinstance(found, _Other):
            self.skipped[found.kind] += 1
        elif found is not None:
            yield found

    def _read_frame(self, found: Frame | Gap, number: int) -> _Found:
        place = f"{self.item.name}:{number}"
        if isinstance(found, Gap):
            return RefusedRecord(place, found.url, ParseError(found.reason))
        archive, errors = _open_archive(io.BytesIO(found.data + b"\r\n\r\n"))
        try:
            for record in archive:
                return self._read_record(record, number)[0]
            raise ValueError("it has no record")
        except errors as error:
            return RefusedRecord(place, None, ParseError(f"The archive is damaged here: {first_line(error)}."))

    def _read_record(self, record: Any, number: int) -> tuple[_Found, bool]:
        """Return the page of a record, and whether all of the record was there."""
        declared, has_length = record.content_length, record.headers.get("Content-Length") is not None
        body = record.reader.read(self._max_content_bytes)
        found = self._make_page(record, f"{self.item.name}:{number}", body, declared)
        return found, has_length and len(body) >= declared

    def _make_page(self, record: Any, place: str, body: bytes, declared: int) -> _Found:
        kind = str(record.record_type).rpartition(".")[2]
        url = record.headers.get("WARC-Target-URI")
        url = url.strip("<>") if url else None
        if record.headers.get("Content-Length") is None:  # every record has one, unless the file ends in its head
            return RefusedRecord(place, url, ParseError("The record is truncated."))
        if kind == "revisit":
            return RefusedRecord(place, url, UnsupportedContent("A revisit record: the page is in another record."))
        if kind not in ("response", "resource"):
            return _Other(kind)
        content_type = record.http_content_type if record.is_http else record.headers.get("Content-Type")
        media_type = (content_type or "").partition(";")[0].strip().lower()
        if media_type not in _READ_TYPES:
            return RefusedRecord(place, url, UnsupportedContent(f"Not a page but {media_type[:100]}."))
        codings = _codings(record)
        limit = self.max_bytes * (_MAX_CODED_GROWTH if codings else 1)
        cut_short = "Content-Encoding" not in codings and len(body) < min(declared, limit)
        if record.headers.get("WARC-Truncated") or cut_short:
            return RefusedRecord(place, url, ParseError("The record is truncated."))
        if codings and len(body) <= limit:
            try:
                body = _decode_body(body, codings, self.max_bytes + 1)
            except (OSError, EOFError, ValueError) as error:
                return RefusedRecord(place, url, ParseError(f"The page cannot be decompressed: {first_line(error)}."))
        if media_type not in HTML_TYPES and detect(body, media_type) is None:
            reason = f"Not a page but {media_type[:100]}." if media_type else "The record has no content type."
            return RefusedRecord(place, url, UnsupportedContent(reason))
        status = record.http_headers.status_code if record.is_http and record.http_headers else None
        refused = check_size(place, url, len(body), self.max_bytes)
        encoding = record.http_charset if record.is_http else None
        return refused or Record(place, url, body, encoding, status, media_type)


def _open_archive(stream: Any) -> tuple[Iterator[Any], tuple[type[Exception], ...]]:
    """Return the records of an archive, and the errors that reading them may raise."""
    try:
        from fastwarc.stream_io import FastWARCError, StreamError
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError:
        extras.require("bulk", "Reading WARC", error=UnsupportedContent)
        from fastwarc.stream_io import FastWARCError, StreamError
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    # Not decoded here: an error in the content of one record would end the file.
    archive = iter(ArchiveIterator(stream, record_types=WarcRecordType.any_type, auto_decode="none"))
    return archive, (FastWARCError, StreamError, OSError, ValueError, EOFError)


def _codings(record: Any) -> dict[str, str]:
    """Return the headers that say how the content is encoded, if it is."""
    headers = record.http_headers if record.is_http else None
    values = {name: headers.get(name) for name in ("Transfer-Encoding", "Content-Encoding")} if headers else {}
    return {name: value for name, value in values.items() if value}


def _decode_body(body: bytes, codings: dict[str, str], limit: int) -> bytes:
    """Return up to `limit` bytes of the decoded content, read as a separate archive."""
    from fastwarc.warc import ArchiveIterator

    headers = "".join(f"{name}: {value}\r\n" for name, value in codings.items())
    message = f"HTTP/1.1 200 OK\r\n{headers}\r\n".encode("latin-1", "replace") + body
    kind = "WARC-Type: response\r\nContent-Type: application/http; msgtype=response"
    record = f"WARC/1.0\r\n{kind}\r\nContent-Length: {len(message)}\r\n\r\n".encode() + message + b"\r\n\r\n"
    content: bytes = next(iter(ArchiveIterator(io.BytesIO(record), auto_decode="all"))).reader.read(limit)
    return content
