"""Records out of files, one after another: never more than one page in memory, and nothing left out in silence."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Final

from pagekeep.bulk.input.files import BUFFER, Input, open_binary
from pagekeep.bulk.input.records import Columns, Line, Record, Refused, Span
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST_LINE: Final = 100_000_000
"""Bytes of a line of JSON; a longer one is refused and passed over."""
_TABLE_BATCH: Final = 16
"""Rows of a table that are in memory together, besides what its library reads ahead."""
_HTML_NAMES: Final = ("html", "raw_html", "content", "body", "page")
_URL_NAMES: Final = ("url", "target_uri", "source", "link")


Found = Record | Refused | Line


class _NoColumn(UnsupportedContent):
    """HTML is not where it was looked for. Never leaves this module."""


@dataclass(slots=True)
class Reading:
    """How files are read, and how far that has come."""

    columns: Columns = field(default_factory=Columns)
    max_bytes: int = 10_000_000
    begun: bool = False
    """Whether a file was read before. The first one without the column asked for means a wrong name, a later one a bad file."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Records that are no page by their nature (requests, metadata), by type; filled while reading."""
    done: int = 0
    """Bytes of the files that were read to their end."""
    stream: IO[bytes] | None = None
    """The file that is being read."""

    def position(self) -> int:
        """Bytes read of all files together, as they are stored."""
        here = self.stream
        return self.done + (here.tell() if here is not None and not here.closed else 0)


def records(item: Input, reading: Reading) -> Iterator[Found]:
    """Everything in the file, in its order. What cannot be read further ends with a `Refused` that says so."""
    read: Callable[[Input, IO[bytes], Reading], Iterator[Found]] = _READERS[item.format]
    try:
        with open_binary(item) as reading.stream:
            yield from read(item, reading.stream, reading)
    except _NoColumn as error:
        if not reading.begun:
            raise UnsupportedContent(error.message, suggestions=error.suggestions) from None
        yield Refused(f"{item.name}:rest", None, UnsupportedContent(error.message))
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        yield Refused(f"{item.name}:rest", None, ParseError(f"The rest of {item.name} cannot be read: {_why(error)}."))
    finally:
        reading.stream, reading.begun = None, True
        reading.done += item.size or 0


def _why(error: Exception) -> str:
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text.splitlines()[0][:200].rstrip(".")


def _bounded(place: str, url: str | None, size: int, max_bytes: int) -> Refused | None:
    if size <= max_bytes:
        return None
    limit = f"{max_bytes / 1e6:g} MB"
    return Refused(place, url, TooLarge(f"The page is larger than {limit}.", suggestions=()))


# WARC


def _warc(item: Input, stream: IO[bytes], reading: Reading) -> Iterator[Found]:
    try:
        from fastwarc.stream_io import FastWARCError, StreamError
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as missing:
        raise UnsupportedContent(
            "WARC files need one more package.", suggestions=("Install it: pip install 'pagekeep[bulk]'.",)
        ) from missing
    found = iter(ArchiveIterator(stream, record_types=WarcRecordType.any_type, auto_decode="all"))
    number = 0
    while True:
        place = f"{item.name}:{number}"
        try:
            record = next(found)
            read = _warc_record(record, place, reading)
        except StopIteration:
            return
        except (FastWARCError, StreamError, ValueError, EOFError) as error:
            yield Refused(place, None, ParseError(f"The archive is damaged here: {_why(error)}."))
            return
        number += 1
        if read is not None:
            yield read


def _warc_record(record: Any, place: str, reading: Reading) -> Record | Refused | None:
    """A response as a page; what carries no page by its nature is counted and passed over."""
    kind = str(record.record_type).rpartition(".")[2]
    url = record.headers.get("WARC-Target-URI")
    url = url.strip("<>") if url else None
    if record.headers.get("Content-Length") is None:  # every record has one, unless the file ends in its head
        return Refused(place, url, ParseError("The record is truncated."))
    if kind == "revisit":
        return Refused(place, url, UnsupportedContent("A revisit: the page is in the record it refers to."))
    if kind not in ("response", "resource"):
        reading.skipped[kind] += 1
        return None
    said = record.http_content_type if record.is_http else record.headers.get("Content-Type")
    media = (said or "").partition(";")[0].strip().lower()
    if media and media not in HTML_TYPES:
        return Refused(place, url, UnsupportedContent(f"Not a page but {media[:100]}."))
    declared = record.content_length
    body = record.reader.read(reading.max_bytes + 1)
    coded = record.is_http and record.http_headers and record.http_headers.get("Content-Encoding")
    if record.headers.get("WARC-Truncated") or (not coded and len(body) < min(declared, reading.max_bytes)):
        return Refused(place, url, ParseError("The record is truncated."))
    if not media:
        return Refused(place, url, UnsupportedContent("The record does not say what it holds."))
    status = record.http_headers.status_code if record.is_http and record.http_headers else None
    refused = _bounded(place, url, len(body), reading.max_bytes)
    return refused or Record(place, url, body, record.http_charset if record.is_http else None, status)


# Parquet


def _parquet(item: Input, stream: IO[bytes], reading: Reading) -> Iterator[Found]:
    pyarrow = needed_pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(stream)
        html, url = _columns(file.schema_arrow.names, item.name, reading.columns)
        number = 0
        for batch in file.iter_batches(batch_size=_TABLE_BATCH, columns=[html, *([url] if url else [])]):
            pages, encoding = _undecoded(batch.column(html))
            addresses = batch.column(url) if url else [None] * len(pages)
            for page, address in zip(pages, addresses, strict=True):
                place = f"{item.name}:{number}"
                yield _table_record(place, page.as_py(), address and address.as_py(), reading.max_bytes, encoding)
                number += 1
    except pyarrow.ArrowInvalid as error:
        yield Refused(f"{item.name}:rest", None, ParseError(f"The table is damaged: {_why(error)}."))


def _undecoded(pages: Any) -> tuple[Any, str | None]:
    """Text as the UTF-8 it is stored as: who reads the page decodes it."""
    pyarrow = needed_pyarrow()
    is_text = pyarrow.types.is_string(pages.type) or pyarrow.types.is_large_string(pages.type)
    return (pages.cast(pyarrow.large_binary()), "utf-8") if is_text else (pages, None)


def needed_pyarrow() -> Any:
    """The Parquet library, or how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise UnsupportedContent(
            "Parquet needs one more package.", suggestions=("Install it: pip install 'pagekeep[bulk]'.",)
        ) from missing
    return pyarrow


def _columns(names: list[str], file: str, wanted: Columns) -> tuple[str, str | None]:
    html = wanted.html or next((name for name in _HTML_NAMES if name in names), None)
    if html is None or html not in names:
        raise _NoColumn(
            f"{file} has no column {html or 'that is known to hold HTML'}.",
            suggestions=(f"Name one with --html-column: {', '.join(names[:20])}.",),
        )
    url = wanted.url or next((name for name in _URL_NAMES if name in names), None)
    return html, url if url in names else None


def _table_record(place: str, html: Any, url: Any, max_bytes: int, encoding: str | None = None) -> Record | Refused:
    url = url if isinstance(url, str) and url else None
    if not isinstance(html, (str, bytes)):
        return Refused(place, url, ParseError("The row holds no HTML."))
    return _bounded(place, url, len(html), max_bytes) or Record(place, url, html, encoding)


# JSONL


def _jsonl(item: Input, stored: IO[bytes], reading: Reading) -> Iterator[Found]:
    lies_here = item.name.lower().endswith((".jsonl", ".ndjson")) and "://" not in item.path
    lines = _spans(stored, item.path) if lies_here else _lines(_unpacked(stored, item.name))
    checked = False
    for number, data in enumerate(lines):
        place = f"{item.name}:{number}"
        if data is None:
            yield Refused(place, None, TooLarge("The line is too long.", suggestions=()))
        elif data:
            line = Line(place, data, reading.columns, reading.max_bytes)
            checked = checked or _has_pages(line, item.name)
            # Several lines wait in memory: what is most likely refused is not to be one of them.
            yield line if line.size <= 2 * reading.max_bytes else opened(line)


def _has_pages(line: Line, file: str) -> bool:
    """Whether the line could be looked at. The first such line of a file stands for all: a wrong name is told at once."""
    try:
        row = json.loads(_bytes(line))
    except (ValueError, RecursionError):
        return False
    if isinstance(row, dict):
        _columns(list(row), file, line.columns)
    return isinstance(row, dict)


def _bytes(line: Line) -> bytes:
    return line.data.read() if isinstance(line.data, Span) else line.data


def _unpacked(stored: IO[bytes], name: str) -> IO[bytes]:
    if name.lower().endswith(".gz"):
        unpacked: Any = gzip.GzipFile(fileobj=stored)
    elif name.lower().endswith(".zst"):
        unpacked = zstd.ZstdFile(stored, "r")
    else:
        return stored
    stream: Any = io.BufferedReader(unpacked, BUFFER)
    lines: IO[bytes] = stream
    return lines


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Empty for a blank line, `None` for one that is too long."""
    while line := stream.readline(_LONGEST_LINE):
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield b"" if line.isspace() else line
            continue
        while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _spans(stream: IO[bytes], path: str) -> Iterator[Span | bytes | None]:
    """The same as places in the file: only the ends of lines are looked for here."""
    start = position = 0
    first = b""
    while chunk := stream.read(BUFFER):
        after = 0
        first = first or chunk[:1]
        while (end := chunk.find(b"\n", after) + 1) > 0:
            yield _span(Span(path, start, position + end - start), first)
            start, after, first = position + end, end, chunk[end : end + 1]
        position += len(chunk)
    if position > start:
        yield _span(Span(path, start, position - start), first)


def _span(line: Span, first: bytes) -> Span | bytes | None:
    if line.size >= _LONGEST_LINE:
        return None
    return b"" if first.isspace() and line.read().isspace() else line


def opened(line: Line) -> Record | Refused:
    """The page in the line, or why there is none."""
    try:
        row = json.loads(_bytes(line))
    except OSError as error:
        return Refused(line.place, None, ParseError(f"The line cannot be read any more: {_why(error)}."))
    except (ValueError, RecursionError) as error:
        return Refused(line.place, None, ParseError(f"The line is no JSON: {_why(error)}."))
    if not isinstance(row, dict):
        return Refused(line.place, None, ParseError("The line is no JSON object."))
    try:
        html, url = _columns(list(row), "The line", line.columns)
    except _NoColumn as error:
        return Refused(line.place, None, UnsupportedContent(error.message))
    return _table_record(line.place, row[html], row.get(url) if url else None, line.max_bytes)


# HTML files


def _html(item: Input, stored: IO[bytes], reading: Reading) -> Iterator[Found]:
    body = _unpacked(stored, item.name).read(reading.max_bytes + 1)
    yield _bounded(item.name, None, len(body), reading.max_bytes) or Record(item.name, None, body)


_READERS: Final = {"warc": _warc, "parquet": _parquet, "jsonl": _jsonl, "html": _html}
