"""The pages of WARC and WACZ files: whole items where Pagekeep wrote the file; of any other, its HTML and documents."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Final, get_args

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParser

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.joined_file import MAX_PAGES, PAGES_TYPE, assemble
from pagekeep.capture.warc_frames import Gap, read_frames
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.fetch.decoders import Body
from pagekeep.fetch.headers import HTML, XHTML, Headers, charset, keep_headers
from pagekeep.library.exports.jsonl import read_line, read_reading
from pagekeep.library.exports.warc_records import ITEM_URI
from pagekeep.library.imports.input.records import Sample
from pagekeep.library.imports.input.row import CompleteItem, Fault, KeptFile, ParsedRow, Place, Row, parse_time
from pagekeep.library.imports.input.source import Source, Tree, read_lines
from pagekeep.model import RawPage
from pagekeep.model.archive import BlobRole, ItemBlob
from pagekeep.store.storable import clean_time, is_text_sound

_PAGE_TYPES: Final = frozenset({HTML, XHTML})
_PACKAGE: Final = "datapackage.json"
_MAX_PAGES: Final = 1_000_000
_MAX_LINE_CHARS: Final = 1_000_000
_MAX_TEXT_CHARS: Final = 2_000
_MAX_SOURCE_CHARS: Final = 10_000
_MAX_FILES: Final = 5_000
"""Kept files of one item."""
_ROLES: Final = frozenset(get_args(BlobRole))
_BEGINNINGS: Final = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "image/avif": re.compile(rb"....ftypavi[fs]", re.DOTALL),
}
"""Types of pictures to how such files begin."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MAX_WAITING_BYTES: Final = 200_000_000
"""Bodies that wait for the metadata of their item."""


def matches(sample: Sample) -> bool:
    """Return whether the file is a WARC, compressed or not."""
    with sample.source.open() as stream:
        return is_warc(stream)


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield the pages of one WARC file."""
    return _Reading(source.part).rows(source)


def matches_tree(names: list[str]) -> bool:
    """Return whether an archive or folder is a WACZ."""
    return _PACKAGE in names and any(map(_is_archive_part, names))


def read_tree(tree: Tree) -> Iterator[ParsedRow]:
    """Yield the pages of a WACZ: those of its page list, or all where it has none."""
    names = tree.names()
    listed = _read_page_lists(tree, [name for name in names if name.startswith("pages/") and name.endswith(".jsonl")])
    found: set[str] = set()
    for name in filter(_is_archive_part, names):
        reading = _Reading(name, listed, found)
        try:
            yield from reading.rows(tree.source(name))
        except PagekeepError as error:
            yield Fault(Place(0, 0, name), error.message)
    for url, title in listed.items():
        if url not in found:
            reason = "The archive has no response for this page."
            yield Fault(Place(0, 0, "pages/pages.jsonl"), reason, url[:500], Row(Place(0, 0), url, title))


def _is_archive_part(name: str) -> bool:
    return name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))


def _read_page_lists(tree: Tree, names: list[str]) -> dict[str, str]:
    """Return the titles of the listed pages by their addresses."""
    listed: dict[str, str] = {}
    for name in names:
        with tree.source(name).text() as stream:
            for line in read_lines(stream, _MAX_LINE_CHARS):
                entry = _parse(line)
                url, title = entry.get("url"), entry.get("title")
                if isinstance(url, str) and len(listed) < _MAX_PAGES:
                    listed.setdefault(url[:_MAX_TEXT_CHARS], title[:_MAX_TEXT_CHARS] if isinstance(title, str) else "")
    return listed


def _parse(line: str | None) -> Mapping[str, Any]:
    try:
        entry = json.loads(line or "{}")
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


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


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 4 else None


@dataclass(slots=True)
class _Reading:
    """The reading of one WARC file."""

    part: str
    listed: Mapping[str, str] = field(default_factory=dict)
    """The titles of the pages to read by their addresses; all pages when empty."""
    found: set[str] = field(default_factory=set)
    """Addresses of pages that were read."""
    _ours: bool = False
    _waiting: dict[str, StoredRecord] = field(default_factory=dict)
    """Records of an item whose metadata has not come yet, by their ids."""
    _number: int = 0

    def rows(self, source: Source) -> Iterator[ParsedRow]:
        """Yield the pages, and every part of the file that could not be read."""
        try:
            for found in read_records(source.open, self.part or source.name):
                self._number += 1
                if isinstance(found, Gap):
                    yield Fault(self._place, found.reason, (found.url or "")[:500])
                else:
                    yield from self._take(found)
        except ParseError as error:
            yield from self._release()
            yield Fault(self._place, error.message)
            return
        yield from self._release()

    @property
    def _place(self) -> Place:
        return Place(0, self._number, self.part)

    def _take(self, record: StoredRecord) -> Iterator[ParsedRow]:
        if record.kind == "warcinfo":
            yield from self._release()
            self._ours = b"software: pagekeep/" in record.body
        elif not self._ours:
            yield from self._page(record)
        elif record.kind == "metadata" and record.uri.startswith(ITEM_URI):
            waiting, self._waiting = self._waiting, {}
            yield self._item(record, waiting)
        else:
            self._waiting[record.record_id] = record
            if sum(len(entry.body) for entry in self._waiting.values()) > _MAX_WAITING_BYTES:
                yield from self._release()

    def _release(self) -> Iterator[ParsedRow]:
        """Yield records whose item never came, as far as they are pages."""
        waiting, self._waiting = self._waiting, {}
        for record in waiting.values():
            yield from self._page(record)

    def _page(self, record: StoredRecord) -> Iterator[ParsedRow]:
        """Yield the page of a record of any program, if it is one."""
        kind = record.media_type.partition(";")[0].strip().lower()
        is_page = record.kind == "resource" or (record.kind == "response" and record.status == 200)
        if not is_page or (self.listed and record.uri not in self.listed):
            return
        if kind not in _PAGE_TYPES and detect(record.body) is None:
            return
        self.found.add(record.uri)
        row = Row(
            self._place, record.uri[:10_000], self.listed.get(record.uri, ""), saved_at=parse_time(record.at) or None
        )
        if record.fault is not None:
            yield Fault(self._place, record.fault, record.uri[:500], row)
            return
        page = RawPage(
            body=record.body,
            encoding=charset({"content-type": record.media_type}),
            content_type=kind,
            final_url=record.uri,
            status=record.status or 200,
            rendered=False,
            fetched_at=row.saved_at or "1970-01-01T00:00:00.000000Z",
            etag=(record.headers or {}).get("etag"),
            last_modified=(record.headers or {}).get("last-modified"),
            headers=None if record.headers is None else keep_headers(record.headers),
        )
        yield Row(row.place, row.url, row.title, row.saved_at, page=page)

    def _item(self, record: StoredRecord, waiting: Mapping[str, StoredRecord]) -> ParsedRow:
        """Return the item that its metadata record and those before it describe."""
        self.found.update(
            one.uri[:_MAX_TEXT_CHARS] for one in waiting.values()
        )  # they are there, if the item is damaged too
        try:
            entry = json.loads(record.body)
            text = _named(entry, "text", waiting)
            item, annotations = read_line({**entry, "content": text.body.decode()}, "")
            reading = read_reading(entry, item.id)
            if not is_text_sound(item):
                raise ParseError("The item's text does not have its recorded hash.", suggestions=())
            raw = _read_raw(entry, waiting) if "raw" in entry else None
            files = tuple(_files(entry.get("files") or [], waiting))
        except PagekeepError as error:
            return Fault(self._place, error.message, record.uri[:500])
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return Fault(self._place, "The item's metadata is not valid.", record.uri[:500])
        return CompleteItem(self._place, item, raw, annotations, files, reading)


def _named(entry: Mapping[str, Any], name: str, waiting: Mapping[str, StoredRecord]) -> StoredRecord:
    """Return the record that the metadata names."""
    record = waiting.get(entry[name]["record"])
    if record is None or record.fault is not None:
        raise ParseError(f"The {name} of the item is missing or damaged.", suggestions=())
    return record


def _read_raw(entry: Mapping[str, Any], waiting: Mapping[str, StoredRecord]) -> RawPage:
    """Return the raw page of an item; that of an article over several pages has a record for each."""
    about = entry["raw"]
    record = _named(entry, "raw", waiting)
    if about.get("content_type") == PAGES_TYPE:
        names = about["pages"]["records"][: MAX_PAGES + 1]
        records = [_named({"page": {"record": name}}, "page", waiting) for name in names]
        record = replace(record, body=assemble(str(about["pages"]["head"]), [one.body for one in records]))
    return _raw_page(about, record)


def _raw_page(about: Mapping[str, Any], record: StoredRecord) -> RawPage:
    url = about["final_url"]
    if not isinstance(url, str) or not url.startswith(("https://", "http://", "mid:")):
        raise ParseError("The raw page has no web address.", suggestions=())
    headers = about.get("headers")
    return RawPage(
        body=record.body,
        encoding=_short_text(about.get("encoding")),
        content_type=_short_text(about.get("content_type")) or HTML,
        final_url=url[:10_000],
        status=int(about["status"]) % 1_000,
        rendered=about.get("rendered") is True,
        fetched_at=clean_time(str(about["fetched_at"])),
        etag=_short_text(about.get("etag")),
        last_modified=_short_text(about.get("last_modified")),
        headers=keep_headers({str(name): str(value) for name, value in headers.items()}) if headers else headers,
    )


def _files(entries: list[Mapping[str, Any]], waiting: Mapping[str, StoredRecord]) -> Iterator[KeptFile]:
    """Yield the kept files of an item; one whose bytes do not have their hash is left out, as damaged."""
    for entry in entries[:_MAX_FILES]:
        link = _link(entry)
        record = waiting.get(entry.get("record") or "")
        body = record.body if record is not None and link.hash is not None else None
        wrong = body is not None and hashlib.sha256(body).hexdigest() != link.hash
        missing = body is None and link.hash is not None and entry.get("record") is not None
        if wrong or (body is not None and not _fits_role(link, body)):
            link, body = replace(link, state="left_out", reason="damaged", hash=None), None
        yield KeptFile(link, body, is_damaged=wrong or missing)


def _fits_role(link: ItemBlob, body: bytes) -> bool:
    """Return whether a file is of a type that its role allows, by its first bytes: types decide how files are shown."""
    if link.role == "page_copy":
        return link.media_type == HTML
    begin = _BEGINNINGS.get(link.media_type)
    if link.role == "pdf" or begin is None:
        return link.role == "pdf" and link.media_type == "application/pdf" and body.startswith(b"%PDF-")
    return begin.match(body) is not None


def _link(entry: Mapping[str, Any]) -> ItemBlob:
    name, role = entry.get("hash"), entry["role"]
    if role not in _ROLES or not (name is None or (isinstance(name, str) and _HASH.fullmatch(name))):
        raise ParseError("A kept file of the item is not described correctly.", suggestions=())
    sizes = {key: value for key in ("size", "width", "height") if isinstance(value := entry.get(key), int)}
    return ItemBlob(
        role=role,
        source=str(entry["source"])[:_MAX_SOURCE_CHARS],
        state="left_out" if name is None else "kept",
        created_at=clean_time(str(entry["created_at"])),
        media_type=_short_text(entry.get("media_type")) or "",
        hash=name,
        reason=_short_text(entry.get("reason")),
        variant=_short_text(entry.get("variant")) or "",
        position=entry["position"] if isinstance(entry.get("position"), int) else 0,
        **sizes,
    )


def _short_text(value: object) -> str | None:
    return value[:_MAX_TEXT_CHARS] if isinstance(value, str) else None


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
