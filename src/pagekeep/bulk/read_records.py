"""Read the records of files and WARC archives one by one, with at most two in memory, and report everything left out."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, Final

from pagekeep import extras
from pagekeep.bulk.input_files import (
    BUFFER_BYTES,
    Input,
    InputColumns,
    Line,
    Record,
    RefusedRecord,
    Span,
    bare_name,
    check_size,
    first_line,
    open_binary,
)
from pagekeep.capture.documents.file_types import declared_type, detect
from pagekeep.capture.warc_frames import Frame, Gap, read_frames
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent
from pagekeep.fetch.headers import DOCUMENT_TYPES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_MAX_LINE_BYTES: Final = 100_000_000
"""A longer line of JSON is refused without being read into memory."""
_TABLE_BATCH_ROWS: Final = 16
"""How many rows of a table are in memory at once, besides what pyarrow reads ahead."""
_HTML_NAMES: Final = ("html", "raw_html", "content", "body", "page")
_URL_NAMES: Final = ("url", "target_uri", "source", "link")


InputRecord = Record | RefusedRecord | Line


class _MissingColumn(UnsupportedContent):
    """The column with HTML is missing. Never raised out of this module."""


@dataclass(slots=True)
class ReadState:
    """How files are read, and how much has been read."""

    columns: InputColumns = field(default_factory=InputColumns)
    max_bytes: int = 10_000_000
    started: bool = False
    """Whether a file was read before. If the first file lacks the HTML column its name is wrong; a later one is a bad file."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Records that are never pages (requests, metadata), by type."""
    done: int = 0
    """Bytes of the files that were read to their end."""
    stream: IO[bytes] | None = None
    """The file that is being read."""

    def position(self) -> int:
        """Return the bytes read of all files together, as stored."""
        stream = self.stream
        return self.done + (stream.tell() if stream is not None and not stream.closed else 0)


def read_records(item: Input, state: ReadState) -> Iterator[InputRecord]:
    """Yield every record of a file in order; a file that is damaged ends with a `RefusedRecord` that says why."""
    read: Callable[[Input, IO[bytes], ReadState], Iterator[InputRecord]] = _READERS[item.format]
    try:
        with open_binary(item) as state.stream:
            yield from read(item, state.stream, state)
    except _MissingColumn as error:
        if not state.started:
            raise UnsupportedContent(error.message, suggestions=error.suggestions) from None
        yield RefusedRecord(f"{item.name}:rest", None, UnsupportedContent(error.message))
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        reason = f"The rest of {item.name} cannot be read: {first_line(error)}."
        yield RefusedRecord(f"{item.name}:rest", None, ParseError(reason))
    finally:
        state.stream, state.started = None, True
        state.done += item.size or 0


def _read_warc(item: Input, stream: IO[bytes], state: ReadState) -> Iterator[InputRecord]:
    return WarcReader(item, state.max_bytes, state.skipped).read(stream)


# Parquet


def _read_parquet(item: Input, stream: IO[bytes], state: ReadState) -> Iterator[InputRecord]:
    pyarrow = require_pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        html, url = _find_columns(file.schema_arrow.names, item.name, state.columns)
        number = 0
        for batch in file.iter_batches(batch_size=_TABLE_BATCH_ROWS, columns=[html, *([url] if url else [])]):
            pages, encoding = _as_bytes_column(batch.column(html))
            addresses = batch.column(url) if url else [None] * len(pages)
            for page, address in zip(pages, addresses, strict=True):
                place = f"{item.name}:{number}"
                yield _build_record(place, page.as_py(), address and address.as_py(), state.max_bytes, encoding)
                number += 1
    except pyarrow.ArrowInvalid as error:
        yield RefusedRecord(f"{item.name}:rest", None, ParseError(f"The table is damaged: {first_line(error)}."))


def _as_bytes_column(pages: Any) -> tuple[Any, str | None]:
    """Return a text column as the UTF-8 that it is stored as: the worker decodes it."""
    pyarrow = require_pyarrow()
    is_text = pyarrow.types.is_string(pages.type) or pyarrow.types.is_large_string(pages.type)
    return (pages.cast(pyarrow.large_binary()), "utf-8") if is_text else (pages, None)


def require_pyarrow() -> Any:
    """Return the pyarrow package; raise `UnsupportedContent` when it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        extras.require("bulk", "Parquet", error=UnsupportedContent)
        import pyarrow
        import pyarrow.parquet
    return pyarrow


def _find_columns(names: list[str], file: str, columns: InputColumns) -> tuple[str, str | None]:
    html = columns.html or next((name for name in _HTML_NAMES if name in names), None)
    if html is None or html not in names:
        raise _MissingColumn(
            f"{file} has no column {html or 'with HTML under a usual name'}.",
            suggestions=(f"Name the column with --html-column. There are: {', '.join(names[:20])}.",),
        )
    url = columns.url or next((name for name in _URL_NAMES if name in names), None)
    return html, url if url in names else None


def _build_record(
    place: str, html: Any, url: Any, max_bytes: int, encoding: str | None = None
) -> Record | RefusedRecord:
    url = url if isinstance(url, str) and url else None
    if not isinstance(html, (str, bytes)):
        return RefusedRecord(place, url, ParseError("The row contains no HTML."))
    return check_size(place, url, len(html), max_bytes) or Record(place, url, html, encoding)


# JSONL


def _read_jsonl(item: Input, stored: IO[bytes], state: ReadState) -> Iterator[InputRecord]:
    is_plain_file = item.name.lower().endswith((".jsonl", ".ndjson")) and "://" not in item.path
    lines = _read_spans(stored, item.path) if is_plain_file else _read_lines(_decompress(stored, item.name))
    checked = False
    for number, data in enumerate(lines):
        place = f"{item.name}:{number}"
        if data is None:
            yield RefusedRecord(place, None, TooLarge("The line is longer than 100 MB.", suggestions=()))
        elif data:
            line = Line(place, data, state.columns, state.max_bytes)
            checked = checked or _has_pages(line, item.name)
            # Several lines wait in memory: a line that will most likely be refused should not be one of them.
            yield line if line.size <= 2 * state.max_bytes else decode_line(line)


def _has_pages(line: Line, file: str) -> bool:
    """Return whether the line is a JSON object; raise `_MissingColumn` when it has no column with HTML.

    Only the first such line of a file is checked, to report a wrong column name at once.
    """
    try:
        row = json.loads(_line_bytes(line))
    except (ValueError, RecursionError):
        return False
    if isinstance(row, dict):
        _find_columns(list(row), file, line.columns)
    return isinstance(row, dict)


def _line_bytes(line: Line) -> bytes:
    return line.data.read() if isinstance(line.data, Span) else line.data


def _decompress(stored: IO[bytes], name: str) -> IO[bytes]:
    if name.lower().endswith(".gz"):
        decompressed: Any = gzip.GzipFile(fileobj=stored)
    elif name.lower().endswith(".zst"):
        decompressed = zstd.ZstdFile(stored, "r")
    else:
        return stored
    stream: Any = io.BufferedReader(decompressed, BUFFER_BYTES)
    lines: IO[bytes] = stream
    return lines


def _read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Yield every line: empty for a blank one, `None` for one that is too long."""
    while line := stream.readline(_MAX_LINE_BYTES):
        if len(line) < _MAX_LINE_BYTES or line.endswith(b"\n"):
            yield b"" if line.isspace() else line
            continue
        while (rest := stream.readline(_MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
            pass
        yield None


def _read_spans(stream: IO[bytes], path: str) -> Iterator[Span | bytes | None]:
    """Yield every line as a span of the file, which takes only a search for line ends."""
    start = position = 0
    first = b""
    while chunk := stream.read(BUFFER_BYTES):
        after = 0
        first = first or chunk[:1]
        while (end := chunk.find(b"\n", after) + 1) > 0:
            yield _check_span(Span(path, start, position + end - start), first)
            start, after, first = position + end, end, chunk[end : end + 1]
        position += len(chunk)
    if position > start:
        yield _check_span(Span(path, start, position - start), first)


def _check_span(line: Span, first: bytes) -> Span | bytes | None:
    if line.size >= _MAX_LINE_BYTES:
        return None
    return b"" if first.isspace() and line.read().isspace() else line


def decode_line(line: Line) -> Record | RefusedRecord:
    """Return the page in a line, or why it has none."""
    try:
        row = json.loads(_line_bytes(line))
    except OSError as error:
        return RefusedRecord(line.place, None, ParseError(f"The line can no longer be read: {first_line(error)}."))
    except (ValueError, RecursionError) as error:
        return RefusedRecord(line.place, None, ParseError(f"The line is not valid JSON: {first_line(error)}."))
    if not isinstance(row, dict):
        return RefusedRecord(line.place, None, ParseError("The line is not a JSON object."))
    try:
        html, url = _find_columns(list(row), "The line", line.columns)
    except _MissingColumn as error:
        return RefusedRecord(line.place, None, UnsupportedContent(error.message))
    return _build_record(line.place, row[html], row.get(url) if url else None, line.max_bytes)


# Files with one page or document each


def _read_file(item: Input, stored: IO[bytes], state: ReadState) -> Iterator[InputRecord]:
    body = _decompress(stored, item.name).read(state.max_bytes + 1)
    declared = declared_type(bare_name(item.name))
    refused = check_size(item.name, None, len(body), state.max_bytes)
    yield refused or Record(item.name, None, body, content_type=declared)


_READERS: Final = {"warc": _read_warc, "parquet": _read_parquet, "jsonl": _read_jsonl, "html": _read_file}

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
