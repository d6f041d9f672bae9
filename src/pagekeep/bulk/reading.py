"""Records out of files, one after another: never more than one page in memory, and nothing left out in silence."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Final

from pagekeep.bulk.inputs import Input, open_binary
from pagekeep.bulk.records import Record, Refused
from pagekeep.errors import ParseError, TooLarge, UnsupportedContent

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST_LINE: Final = 100_000_000
"""Bytes of a line of JSON; a longer one is refused and passed over."""
_HTML_NAMES: Final = ("html", "raw_html", "content", "body", "page")
_URL_NAMES: Final = ("url", "target_uri", "source", "link")


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read."""

    html_column: str | None = None
    url_column: str | None = None
    max_bytes: int = 10_000_000
    skipped: Counter[str] = field(default_factory=Counter)
    """Records that are no page by their nature (requests, metadata), by type; filled while reading."""


def records(item: Input, reading: Reading) -> Iterator[Record | Refused]:
    """Everything in the file, in its order. What cannot be read further ends with a `Refused` that says so."""
    read: Callable[[Input, Reading], Iterator[Record | Refused]] = _READERS[item.format]
    try:
        yield from read(item, reading)
    except OSError as error:
        yield Refused(f"{item.name}:rest", None, ParseError(f"The rest of {item.name} cannot be read: {_why(error)}."))


def _why(error: Exception) -> str:
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text.splitlines()[0][:200].rstrip(".")


def _bounded(place: str, url: str | None, size: int, reading: Reading) -> Refused | None:
    if size <= reading.max_bytes:
        return None
    limit = f"{reading.max_bytes / 1e6:g} MB"
    return Refused(place, url, TooLarge(f"The page is larger than {limit}.", suggestions=()))


# WARC


def _warc(item: Input, reading: Reading) -> Iterator[Record | Refused]:
    try:
        from fastwarc.stream_io import FastWARCError, StreamError
        from fastwarc.warc import ArchiveIterator, WarcRecordType
    except ImportError as missing:
        raise UnsupportedContent(
            "WARC files need one more package.", suggestions=("Install it: pip install 'pagekeep[bulk]'.",)
        ) from missing
    with open_binary(item) as stream:
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
    refused = _bounded(place, url, len(body), reading)
    return refused or Record(place, url, body, record.http_charset if record.is_http else None, status)


# Parquet


def _parquet(item: Input, reading: Reading) -> Iterator[Record | Refused]:
    pyarrow = needed_pyarrow()
    with open_binary(item) as stream:
        try:
            file = pyarrow.parquet.ParquetFile(stream)
            html, url = _columns(file.schema_arrow.names, item, reading)
            number = 0
            for batch in file.iter_batches(batch_size=64, columns=[html, *([url] if url else [])]):
                for row in batch.to_pylist():
                    yield _table_record(f"{item.name}:{number}", row.get(html), row.get(url) if url else None, reading)
                    number += 1
        except pyarrow.ArrowInvalid as error:
            yield Refused(f"{item.name}:rest", None, ParseError(f"The table is damaged: {_why(error)}."))


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


def _columns(names: list[str], item: Input, reading: Reading) -> tuple[str, str | None]:
    html = reading.html_column or next((name for name in _HTML_NAMES if name in names), None)
    if html is None or html not in names:
        raise UnsupportedContent(
            f"{item.name} has no column {html or 'that is known to hold HTML'}.",
            suggestions=(f"Name one with --html-column: {', '.join(names[:20])}.",),
        )
    url = reading.url_column or next((name for name in _URL_NAMES if name in names), None)
    return html, url if url in names else None


def _table_record(place: str, html: Any, url: Any, reading: Reading) -> Record | Refused:
    url = url if isinstance(url, str) and url else None
    if not isinstance(html, (str, bytes)):
        return Refused(place, url, ParseError("The row holds no HTML."))
    return _bounded(place, url, len(html), reading) or Record(place, url, html)


# JSONL


def _jsonl(item: Input, reading: Reading) -> Iterator[Record | Refused]:
    with open_binary(item) as stored:
        lines = _lines(_unpacked(stored, item.name))
        for number, line in enumerate(lines):
            place = f"{item.name}:{number}"
            if line is None:
                yield Refused(place, None, TooLarge("The line is too long.", suggestions=()))
            elif line.strip():
                yield _json_record(line, place, item, reading)


def _unpacked(stored: IO[bytes], name: str) -> IO[bytes]:
    if name.lower().endswith(".gz"):
        unpacked: Any = gzip.GzipFile(fileobj=stored)
    elif name.lower().endswith(".zst"):
        unpacked = zstd.ZstdFile(stored, "r")
    else:
        return stored
    stream: IO[bytes] = unpacked
    return stream


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """`None` for a line that is too long."""
    while line := stream.readline(_LONGEST_LINE):
        if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _json_record(line: bytes, place: str, item: Input, reading: Reading) -> Record | Refused:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Refused(place, None, ParseError(f"The line is no JSON: {_why(error)}."))
    if not isinstance(row, dict):
        return Refused(place, None, ParseError("The line is no JSON object."))
    html, url = _columns(list(row), item, reading)
    return _table_record(place, row[html], row.get(url) if url else None, reading)


# HTML files


def _html(item: Input, reading: Reading) -> Iterator[Record | Refused]:
    with open_binary(item) as stored:
        body = _unpacked(stored, item.name).read(reading.max_bytes + 1)
    yield _bounded(item.name, None, len(body), reading) or Record(item.name, None, body)


_READERS: Final = {"warc": _warc, "parquet": _parquet, "jsonl": _jsonl, "html": _html}
