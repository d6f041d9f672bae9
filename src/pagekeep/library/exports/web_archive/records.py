"""Write the records of a WARC file, each compressed on its own, and note where each is."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekeep.clock import to_the_second
from pagekeep.version import __version__

Kind = Literal["response", "resource", "conversion", "metadata"]
WARC_VERSION: Final = "1.1"
SOFTWARE: Final = f"pagekeep/{__version__}"


@dataclass(frozen=True, slots=True)
class Http:
    """The first line and headers of a response."""

    status: str
    """Such as `200 OK`."""
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One record to write."""

    kind: Kind
    uri: str
    record_id: str
    """`<urn:uuid:...>`."""
    at: str
    """When it was captured, or made."""
    body: bytes
    media_type: str
    """Of the body; a response has it in its own headers too."""
    http: Http | None = None
    about: Mapping[str, str] | None = None
    """More headers of the record, such as `WARC-Refers-To`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is in its file."""

    record: Record
    offset: int
    length: int
    digest: str
    """Of the body, as `WARC-Payload-Digest` has it."""


class RecordWriter:
    """Writes records to a stream, which need not be seekable."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._offset = 0

    def write_info(
        self, file_name: str, at: str, fields: Iterable[tuple[str, str]], record_id: str | None = None
    ) -> None:
        """Write the first record, which describes the file; its id is a new one unless given."""
        buffer, writer = self._begin()
        record = writer.create_warcinfo_record(file_name, {"software": SOFTWARE, **dict(fields)})
        record.rec_headers.replace_header("WARC-Date", to_the_second(at))
        if record_id is not None:
            record.rec_headers.replace_header("WARC-Record-ID", record_id)
        writer.write_record(record)
        self._append(buffer.getvalue())

    def write(self, record: Record) -> Place:
        """Write a record, and return where it is."""
        buffer, writer = self._begin()
        headers: dict[str, str] = {"WARC-Record-ID": record.record_id, "WARC-Date": to_the_second(record.at)}
        if record.http is None:
            headers["Content-Type"] = record.media_type
        made: Any = writer.create_warc_record(
            record.uri,
            record.kind,
            payload=io.BytesIO(record.body),
            length=len(record.body),
            warc_content_type="" if record.http else record.media_type,
            warc_headers_dict={**headers, **(record.about or {})},
            http_headers=_http_headers(record.http),
        )
        digest = made.rec_headers.get_header("WARC-Payload-Digest")
        writer.write_record(made)
        offset, data = self._offset, buffer.getvalue()
        self._append(data)
        return Place(record, offset, len(data), digest)

    def _begin(self) -> tuple[io.BytesIO, WARCWriter]:
        buffer = io.BytesIO()
        return buffer, WARCWriter(buffer, gzip=True, warc_version=WARC_VERSION)

    def _append(self, data: bytes) -> None:
        self._out.write(data)
        self._offset += len(data)


def _http_headers(http: Http | None) -> StatusAndHeaders | None:
    return StatusAndHeaders(http.status, list(http.headers), protocol="HTTP/1.1") if http else None
