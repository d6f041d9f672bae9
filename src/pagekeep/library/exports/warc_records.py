"""The WARC records of an item: its raw page, kept pictures and copies, Markdown, and everything else as JSON."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from http import HTTPStatus
from typing import Any, BinaryIO, Final, Literal

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekeep.capture.extract import REMOTE_READER_TYPE
from pagekeep.capture.joined_file import PAGES_TYPE, read_head, unpack
from pagekeep.clock import to_the_second
from pagekeep.library.exports.jsonl import write_line
from pagekeep.library.items.build_item import to_raw_page
from pagekeep.model import Annotation, Item, RawPage
from pagekeep.model.archive import ItemBlob
from pagekeep.model.reading import ReadingState
from pagekeep.version import __version__

ITEM_URI: Final = "urn:pagekeep:item:"
"""Begins the address of the record that holds an item."""
RAW_URI: Final = "urn:pagekeep:raw:"
"""Begins the address of a raw page that is not what its URL gives, such as the answer of a remote reader."""
FILE_URI: Final = "urn:pagekeep:file:"
"""Begins the address of a file that Pagekeep made, such as a thumbnail or a screenshot; its hash follows."""
ITEM_TYPE: Final = "application/json"
MARKDOWN_TYPE: Final = "text/markdown; charset=utf-8"
_RENAMED: Final = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection"})
"""Headers about the transfer, which no longer fit the body as it is stored: decoded, and in one piece."""
_RAW_FIELDS: Final = tuple(field.name for field in fields(RawPage) if field.name not in ("body", "headers"))

_EXPLANATIONS: Final = {
    "response": "The response as it was received, with its headers; the body is decoded, and cookies are left out.",
    "known": "A response whose headers were not kept, except those that are shown.",
    "rendered": "The page as a browser showed it after running its scripts, not a response of the server.",
    "sent": "The page as the user's browser or another program had it, not a response of the server.",
    "remote": "The answer of a remote reader about this page, not the page itself.",
}


@dataclass(frozen=True, slots=True)
class ItemParts:
    """Everything that belongs to an item."""

    item: Item
    raw: RawPage | None
    annotations: Sequence[Annotation]
    files: Sequence[tuple[ItemBlob, bytes | None]] = ()
    """Kept files and those that were left out; without bytes where there are none, or they are in the archive already."""
    reading: ReadingState | None = None


def item_records(parts: ItemParts) -> Iterator[Record]:
    """Yield the records of an item; the last one is its metadata, which names the others."""
    item, raw, annotations = parts.item, parts.raw, parts.annotations
    about = json.loads(write_line(item, annotations, parts.reading))
    content = about.pop("content")
    pages = _pages_of(raw)
    records = [_raw_record(item, page, f"raw{number or ''}") for number, page in enumerate(pages)]
    raw_record = records[0] if records else None
    if raw is not None and raw_record is not None:
        about["raw"] = {name: getattr(raw, name) for name in _RAW_FIELDS}
        about["raw"] |= {
            "headers": None if raw.headers is None else dict(raw.headers),
            "record": raw_record.record_id,
            "explanation": _EXPLANATIONS[_origin(item, pages[0])],
        }
        if raw.content_type == PAGES_TYPE:
            about["raw"]["pages"] = {
                "head": read_head(raw.body),
                "records": [record.record_id for record in records],
            }
        yield from records
    about["files"] = []
    for link, body in parts.files:
        record = None if body is None else _file_record(item, link, body)
        about["files"].append({**asdict(link), "record": record and record.record_id})
        if record is not None:
            yield record
    text = _text_record(item, content, raw_record)
    yield text
    about["text"] = {"record": text.record_id}
    yield Record(
        "metadata",
        f"{ITEM_URI}{item.id}",
        _record_id(item, "item"),
        item.updated_at,
        json.dumps(about, ensure_ascii=False).encode("utf-8", "replace"),
        ITEM_TYPE,
        about={"WARC-Refers-To": raw_record.record_id} if raw_record else None,
    )


def _origin(item: Item, raw: RawPage) -> str:
    """Return how the raw page was captured, as a key of the explanations."""
    if raw.content_type == REMOTE_READER_TYPE:
        return "remote"
    if raw.rendered:
        return "rendered"
    if raw.headers is not None:
        return "response"
    return "known" if item.source == "web" else "sent"


def _pages_of(raw: RawPage | None) -> list[RawPage]:
    """Return the page, or all pages of an article over several pages: each is a record, as its own address gave it."""
    if raw is None or raw.content_type != PAGES_TYPE:
        return [] if raw is None else [raw]
    return [to_raw_page(part.fetched, raw.fetched_at) for part in unpack(raw.body).parts]


def _raw_record(item: Item, raw: RawPage, name: str) -> Record:
    origin, record_id = _origin(item, raw), _record_id(item, name)
    media_type = f"{raw.content_type}; charset={raw.encoding}" if raw.encoding else raw.content_type
    if origin in ("response", "known"):
        http = Http(status_line(raw.status), tuple(http_headers(raw, media_type)))
        return Record("response", raw.final_url, record_id, raw.fetched_at, raw.body, media_type, http)
    uri = f"{RAW_URI}{item.id}" if origin == "remote" else raw.final_url
    return Record("resource", uri, record_id, raw.fetched_at, raw.body, media_type)


def status_line(status: int) -> str:
    """Return a status with its name, as the first line of a response has it."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} Unknown"


def http_headers(raw: RawPage, media_type: str) -> Iterator[tuple[str, str]]:
    """Yield the headers of a response; those about its transfer are renamed, as other archiving programs do."""
    known = {"content-type": media_type, "etag": raw.etag, "last-modified": raw.last_modified}
    sent: Mapping[str, str | None] = known if raw.headers is None else raw.headers
    for name, value in sent.items():
        if value is not None:
            clean = " ".join(value.split()).encode("latin-1", "replace").decode("latin-1")
            yield (f"X-Archive-Orig-{name}" if name in _RENAMED else name), clean
    if raw.headers is None:
        yield "X-Pagekeep-Note", "other headers of this response were not kept"
    elif "content-type" not in raw.headers:
        yield "content-type", media_type
    yield "content-length", str(len(raw.body))


def _text_record(item: Item, content: str, raw: Record | None) -> Record:
    """Return the item's text: a conversion of its raw page, unless there is none or it is the user's own version."""
    body, record_id = content.encode("utf-8", "replace"), _record_id(item, "text")
    if raw is None or item.metadata.edited:
        return Record("resource", f"{ITEM_URI}{item.id}:text", record_id, item.updated_at, body, MARKDOWN_TYPE)
    refers = {"WARC-Refers-To": raw.record_id}
    return Record("conversion", raw.uri, record_id, item.updated_at, body, MARKDOWN_TYPE, about=refers)


def _file_record(item: Item, link: ItemBlob, body: bytes) -> Record:
    """Return a kept file: a picture under its address, what was made from a page under an address of ours."""
    is_web = link.role in ("picture", "hero", "resource") and link.source.startswith(("http://", "https://"))
    uri = link.source if is_web else f"{FILE_URI}{link.hash}"
    media_type = link.media_type or "application/octet-stream"
    return Record("resource", uri, _record_id(item, f"file:{link.hash}:{uri}"), link.created_at, body, media_type)


def _record_id(item: Item, part: str) -> str:
    """Return an id that is the same for the same version of an item."""
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"pagekeep:{item.id}:{item.updated_at}:{part}")
    return f"<urn:uuid:{name}>"


def page_of(item: Item, raw: RawPage) -> dict[str, Any] | None:
    """Return the item as an entry of the page list; `None` when its raw page is not what its URL gives."""
    from pagekeep.clock import to_the_second

    if _origin(item, raw) == "remote":
        return None
    return {"id": item.id, "url": raw.final_url, "ts": to_the_second(raw.fetched_at), "title": item.title}


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
