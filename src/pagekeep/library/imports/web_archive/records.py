"""Read the records of a WARC file, one at a time and within limits, from any program."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParser

from pagekeep.capture.warc_frames import Gap, read_frames
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.fetch.decoders import Body
from pagekeep.fetch.headers import Headers

MAX_BODY_BYTES: Final = 40_000_000
"""The largest body that is read; larger ones are left out. A row that is handed over may have 50 MB."""
_CODED_GROWTH: Final = 2
"""How many times larger than its content an encoded body may be: the sizes of small chunks take space."""
_KINDS: Final = frozenset({"warcinfo", "response", "resource", "conversion", "metadata"})
_HTTP_HEADERS: Final = StatusAndHeadersParser(["HTTP/1.0", "HTTP/1.1"], verify=False)
_MAX_HEADERS: Final = 200
_MAX_HEAD_BYTES: Final = 200_000
"""What the headers of a record may take beside its content."""
_SAMPLE_BYTES: Final = 512


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record of an archive, with its body decoded."""

    kind: str
    uri: str
    record_id: str
    at: str
    """`WARC-Date`."""
    media_type: str
    """The whole Content-Type: of the response, or of the record where there is none."""
    body: bytes
    status: int | None = None
    headers: Mapping[str, str] | None = None
    """Of the response, names in lower case, without cookies."""
    fault: str | None = None
    """Why the body cannot be used; then it is empty."""


def is_warc(stream: BinaryIO) -> bool:
    """Return whether a file begins like a WARC, compressed or not."""
    begin = stream.read(_SAMPLE_BYTES)
    if begin.startswith(b"\x1f\x8b"):
        try:
            begin = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(begin, _SAMPLE_BYTES)
        except zlib.error:
            return False
    return begin.startswith(b"WARC/")


def read_records(open_file: Callable[[], BinaryIO], name: str) -> Iterator[StoredRecord | Gap]:
    """Yield the records that can hold pages or describe them, and every part of the file that is not a whole record."""
    for found in read_frames(open_file, name, MAX_BODY_BYTES * _CODED_GROWTH + _MAX_HEAD_BYTES):
        if isinstance(found, Gap):
            yield found
            continue
        place = f"The record at byte {found.offset:,} of the archive"
        try:
            # Parsed further, any record without an address makes the library fail.
            record = next(ArchiveIterator(io.BytesIO(found.data + b"\r\n\r\n"), no_record_parse=True))
            uri = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<> ")
            is_http = record.rec_type == "response" and record.length and uri.startswith(("http:", "https:"))
            http = _HTTP_HEADERS.parse(record.raw_stream) if is_http else None
        except (StopIteration, ArchiveLoadFailed, OSError, EOFError, ValueError, zlib.error) as error:
            yield Gap(f"{place} cannot be read: {type(error).__name__}.", is_record=True)
            continue
        if record.rec_type == "response" and not uri:
            yield Gap(f"{place} is a response without an address.", is_record=True)
        elif record.rec_type in _KINDS:
            yield _read(record, uri, http)


def _read(record: Any, uri: str, http: Any) -> StoredRecord:
    about = record.rec_headers
    fields = (record.rec_type, uri, about.get_header("WARC-Record-ID") or "", about.get_header("WARC-Date") or "")
    headers = None if http is None else _headers(http)
    media_type = (headers or {}).get("content-type", "") if http else about.get_header("Content-Type") or ""
    status = _number(http.get_statuscode()) if http else None
    try:
        body = _body(record, headers or {})
    except (PagekeepError, OSError, EOFError, ValueError, zlib.error) as error:
        message = error.message if isinstance(error, PagekeepError) else "The record is damaged."
        return StoredRecord(*fields, media_type, b"", status, headers, message)
    return StoredRecord(*fields, media_type, body, status, headers)


def _headers(http: Any) -> Mapping[str, str]:
    pairs = [
        (str(name).encode("utf-8", "replace"), str(value).encode("utf-8", "replace")) for name, value in http.headers
    ]
    return Headers(pairs[:_MAX_HEADERS]).fields


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 4 else None


def _body(record: Any, headers: Mapping[str, str]) -> bytes:
    """Return the body as it was before its transfer; raise `PagekeepError` when it is too long or incomplete."""
    codings = headers.get("content-encoding", "") if record.rec_type == "response" else ""
    chunked = "chunked" in headers.get("transfer-encoding", "").lower()
    limit = MAX_BODY_BYTES * (_CODED_GROWTH if codings or chunked else 1)
    data = record.raw_stream.read(limit + 1)
    if len(data) > limit:
        raise ParseError(f"The record is larger than {limit // 1_000_000} MB.", suggestions=())
    if record.rec_headers.get_header("WARC-Truncated"):
        raise ParseError("The record is truncated.", suggestions=())
    if chunked:
        data = ChunkedDataReader(io.BytesIO(data)).read(limit + 1)
    body = Body(codings, MAX_BODY_BYTES)
    for start in range(0, len(data), 65_536):
        body.feed(data[start : start + 65_536])
    return body.content()
