"""Write items as one WARC or WACZ file, with the index by which replay programs find a page."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, Final, cast
from urllib.parse import quote_from_bytes, unquote_to_bytes
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from pagekeep import clock
from pagekeep.errors import PagekeepError
from pagekeep.library.exports.selection import SelectedItem
from pagekeep.library.exports.warc_records import SOFTWARE, ItemParts, Place, RecordWriter, item_records, page_of
from pagekeep.model import Item, RawPage
from pagekeep.model.archive import ItemBlob
from pagekeep.store import Store

WARC_NAME: Final = "data.warc.gz"
WACZ_VERSION: Final = "1.1.1"
_INFO: Final = (
    ("format", "WARC File Format 1.1"),
    ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
    (
        "description",
        "Pages of a Pagekeep library; each item has a metadata record in JSON that names its other records",
    ),
)
_PAGES_IN_MEMORY: Final = 4_000_000
"""Bytes of the page list before it goes to a temporary file."""
AddPage = Callable[[Item, RawPage], None]


def write_warc(out: BinaryIO, items: Iterable[SelectedItem], store: Store) -> None:
    """Write the items as a WARC file, compressed record by record."""
    _write_records(out, items, store, lambda _place: None, lambda _item, _raw: None)


def _write_records(
    out: BinaryIO, items: Iterable[SelectedItem], store: Store, add: Callable[[Place], None], add_page: AddPage
) -> None:
    writer = RecordWriter(out)
    writer.write_info(WARC_NAME, clock.now(), _INFO)
    written: set[tuple[str, str]] = set()
    for selected in items:
        item = selected.item
        raw = store.items.raw(item.id)
        files = tuple(_read_files(item, store, written))
        parts = ItemParts(item, raw, selected.annotations, files, selected.reading)
        for record in item_records(parts):
            add(writer.write(record))
        if raw is not None:
            add_page(item, raw)


def _read_files(item: Item, store: Store, written: set[tuple[str, str]]) -> Iterator[tuple[ItemBlob, bytes | None]]:
    """Yield the item's kept files; each file is in an archive once for each address. Missing ones are named without bytes."""
    for link in store.blobs.of_item(item.id):
        body = None
        if link.hash is not None and (link.hash, link.source) not in written:
            try:
                body = store.blobs.get(link.hash)
                written.add((link.hash, link.source))
            except PagekeepError:
                body = None
        yield link, body


def write_wacz(out: BinaryIO, items: Iterable[SelectedItem], store: Store) -> None:
    """Write the items as a WACZ file: the WARC, its index, the page list and the hashes of all."""
    created, index = clock.to_the_second(clock.now()), CdxIndex(WARC_NAME)
    try:
        with ZipFile(out, "w") as archive, tempfile.SpooledTemporaryFile(_PAGES_IN_MEMORY) as pages:
            package = _Package(archive)

            def add_page(item: Item, raw: RawPage) -> None:
                entry = page_of(item, raw)
                if entry is not None:
                    pages.write(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

            with package.open(f"archive/{WARC_NAME}", ZIP_STORED) as stream:
                _write_records(cast(BinaryIO, stream), items, store, index.add, add_page)
            _write_index(package, index)
            pages.seek(0)
            with package.open("pages/pages.jsonl") as stream:
                stream.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}\n')
                while part := pages.read(1_000_000):
                    stream.write(part)
            package.finish(created)
    finally:
        index.close()


def _write_index(package: _Package, index: CdxIndex) -> None:
    lines = [f'!meta 0 {{"format": "cdxj-gzip-1.0", "filename": "{DATA_NAME}"}}\n']
    with package.open(f"indexes/{DATA_NAME}", ZIP_STORED) as stream:
        for line, block in index.blocks():
            lines.append(line)
            stream.write(block)
    with package.open("indexes/index.idx") as stream:
        stream.write("".join(lines).encode())


class _Package:
    """The files of a WACZ, with their hashes."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._resources: list[dict[str, Any]] = []

    def open(self, path: str, compression: int = ZIP_DEFLATED) -> _HashedFile:
        """Open a new file of the archive; its hash is noted when it is closed."""
        return _HashedFile(self._archive, path, compression, self._resources)

    def finish(self, created: str) -> None:
        """Write the list of all files with their hashes, and the hash of the list."""
        package = {
            "profile": "data-package",
            "resources": self._resources,
            "created": created,
            "wacz_version": WACZ_VERSION,
            "software": SOFTWARE,
        }
        data = json.dumps(package, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        self._archive.writestr(_entry("datapackage.json"), data)
        self._archive.writestr(_entry("datapackage-digest.json"), json.dumps(digest, indent=2).encode())


class _HashedFile:
    """A file that is written into the archive; use it with `with`."""

    def __init__(self, archive: ZipFile, path: str, compression: int, resources: list[dict[str, Any]]) -> None:
        self._path = path
        self._resources = resources
        self._stream = archive.open(_entry(path, compression), "w", force_zip64=True)
        self._hash = hashlib.sha256()
        self._size = 0

    def __enter__(self) -> _HashedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stream.close()
        if kind is None:
            entry = {"name": self._path.rpartition("/")[2], "path": self._path}
            self._resources.append({**entry, "hash": f"sha256:{self._hash.hexdigest()}", "bytes": self._size})

    def write(self, data: bytes) -> int:
        """Write the next bytes."""
        self._hash.update(data)
        self._size += len(data)
        return self._stream.write(data)


def _entry(path: str, compression: int = ZIP_DEFLATED) -> ZipInfo:
    info = ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.compress_type = compression
    info.external_attr = 0o644 << 16
    return info


DATA_NAME: Final = "index.cdx.gz"
_BLOCK_LINES: Final = 3_000
"""Lines that are compressed together: as many as other programs write."""
_LEVEL: Final = 6


class CdxIndex:
    """Collects the lines of an index in a temporary file, so that a large one needs little memory."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._lines = sqlite3.connect("", isolation_level=None)  # a temporary database, on disk when it is large
        self._lines.execute("CREATE TABLE lines (line TEXT NOT NULL)")
        self._lines.execute("BEGIN")

    def add(self, place: Place) -> None:
        """Add a record, if it is of a page or a picture."""
        record = place.record
        if record.kind not in ("response", "resource") or not record.uri.startswith(("http://", "https://")):
            return
        fields = {
            "url": record.uri,
            "mime": record.media_type.partition(";")[0].strip(),
            "status": record.http.status[:3] if record.http else "200",
            "digest": place.digest,
            "length": str(place.length),
            "offset": str(place.offset),
            "filename": self._file_name,
        }
        stamp = "".join(char for char in record.at[:19] if char.isdigit())
        self._lines.execute("INSERT INTO lines VALUES (?)", (f"{surt(record.uri)} {stamp} {json.dumps(fields)}\n",))

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        """Yield the compressed blocks, each with its line for the list of blocks."""
        rows = (line for (line,) in self._lines.execute("SELECT line FROM lines ORDER BY line"))
        offset = 0
        while block := list(islice(rows, _BLOCK_LINES)):
            data = gzip.compress("".join(block).encode(), _LEVEL, mtime=0)
            digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
            key = " ".join(block[0].split(" ", 2)[:2])
            yield f"{key} {json.dumps({'offset': offset, 'length': len(data), 'digest': digest})}\n", data
            offset += len(data)

    def close(self) -> None:
        """Remove the temporary file."""
        self._lines.close()


_DEFAULT_PORTS: Final = {b"http": b"80", b"https": b"443"}
_URL: Final = re.compile(rb"(?s)(?i:(https?))://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?")
_WWW: Final = re.compile(rb"www\d*\.")
_SAFE: Final = rb"""!"$&'()*+,-./:;<=>?@[\]^_`{|}~"""
_PATH_SESSIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rb"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$",
        rb"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$",
    )
)
_QUERY_SESSIONS: Final = tuple(
    re.compile(rb"^(.*)(?:" + pattern + rb")(?:&(.*))?$", re.IGNORECASE)
    for pattern in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """Return the key of an http or https URL; other URIs are their own key."""
    found = _URL.match(url.strip().encode("utf-8", "replace"))
    if found is None:
        return url
    scheme, host, port, path, query = found.groups()
    key = _host(host)
    if port and port != _DEFAULT_PORTS[scheme.lower()]:
        key += b":" + port
    key += b")" + _path(path)
    if query:
        arranged = _query(query)
        key += b"?" + arranged if arranged else b""
    return key.decode("ascii", "replace")


def _host(host: bytes) -> bytes:
    name = _unescape(host).lower().replace(b"..", b".").strip(b".")
    if not name.isascii():
        try:
            name = name.decode("utf-8").encode("idna")
        except UnicodeError:
            name = _escape(name)
    name = name[found.end() :] if (found := _WWW.match(name)) else name
    return b",".join(reversed(name.split(b".")))


def _path(path: bytes) -> bytes:
    parts: list[bytes] = []
    *_, last = pieces = _unescape(path).split(b"/")[1:] or [b""]
    for piece in pieces:
        if piece == b"..":
            if parts:
                parts.pop()
            else:
                parts.append(piece)
        elif piece != b".":
            parts.append(piece)
    folders = [part for part in parts[:-1] if part]
    last = parts[-1] if parts else b""
    clean = _escape(b"/" + b"/".join([*folders, last])).lower()
    for pattern in _PATH_SESSIONS:
        clean = pattern.sub(rb"\1\2", clean)
    return clean[:-1] if len(clean) > 1 and clean.endswith(b"/") else clean


def _query(query: bytes) -> bytes:
    clean = _escape(_unescape(query))
    for pattern in _QUERY_SESSIONS:
        clean = pattern.sub(rb"\1\2", clean)
    return b"&".join(
        b"=".join(pair) for pair in sorted(tuple(part.split(b"=", 1)) for part in clean.lower().split(b"&"))
    )


def _unescape(text: bytes) -> bytes:
    while (plain := unquote_to_bytes(text)) != text:
        text = plain
    return text


def _escape(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")
