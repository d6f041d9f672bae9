"""Write items as one WARC or WACZ file."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from pagekeep import clock
from pagekeep.errors import PagekeepError
from pagekeep.library.exports.selection import SelectedItem
from pagekeep.library.exports.web_archive.cdx_index import DATA_NAME, CdxIndex
from pagekeep.library.exports.web_archive.item_records import ItemParts, item_records, page_of
from pagekeep.library.exports.web_archive.records import SOFTWARE, Place, RecordWriter
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
        raw = store.raw(item.id)
        files = tuple(_read_files(item, store, written))
        parts = ItemParts(item, raw, selected.annotations, files, selected.reading)
        for record in item_records(parts):
            add(writer.write(record))
        if raw is not None:
            add_page(item, raw)


def _read_files(item: Item, store: Store, written: set[tuple[str, str]]) -> Iterator[tuple[ItemBlob, bytes | None]]:
    """Yield the item's kept files; each file is in an archive once for each address. Missing ones are named without bytes."""
    for link in store.item_blobs(item.id):
        body = None
        if link.hash is not None and (link.hash, link.source) not in written:
            try:
                body = store.blob(link.hash)
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
