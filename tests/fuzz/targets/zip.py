"""ZIP archives: exports, office files and books are read in bounded work, whatever their directory says.

An input is an archive, or, after the byte 0, a list of files to pack: name, line feed, content, and three bytes 1 between two.
The list reaches the readers of DOCX, ODT, EPUB and WACZ, as changed bytes of packed data hardly ever do.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress

from pagekeep.capture.documents import zip_xml as documents
from pagekeep.capture.documents.parsed import UnreadableFile
from pagekeep.capture.extract import ReadTask, as_fetched
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.library.imports.formats.web_archive import matches_tree, read_tree
from pagekeep.library.imports.input import source as imports
from pagekeep.library.imports.input.source import is_inside
from pagekeep.model import Options, Page
from tests.capture.documents.tiny_office import unpack
from tests.fuzz.target import Target, expect
from tests.hostile.documents import KINDS

_BETWEEN = b"\1\1\1"
_MAX_READ = 3_000_000


def pack(data: bytes) -> bytes:
    """Return the archive that an input means."""
    if data[:1] != b"\0":
        return data
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        written: set[str] = set()
        for file in data[1:].split(_BETWEEN)[:50]:
            name, _, content = file.partition(b"\n")
            path = name.decode("utf-8", "replace").replace("\0", "") or "x"
            if path not in written and len(path) < 1_000:
                written.add(path)
                method = zipfile.ZIP_STORED if path == "mimetype" else zipfile.ZIP_DEFLATED
                archive.writestr(zipfile.ZipInfo(path), content, method)
    return out.getvalue()


def check(data: bytes) -> None:
    """Read every file as an import and as a document does, and the whole as both."""
    packed = pack(data)
    with suppress(PagekeepError):
        _check_import(packed)
    with suppress(PagekeepError, UnreadableFile):
        _check_document(packed)
    with suppress(PagekeepError):
        page = ReadTask.prepare(as_fetched(packed, "https://example.com/a", Options()), Options(), Settings()).run()
        expect(isinstance(page, Page), "not a page")
        page.markdown.encode("utf-8")


def _check_import(packed: bytes) -> None:
    archive = imports.Archive(io.BytesIO(packed), "a.zip")
    names = archive.names()
    expect(all(map(is_inside, names)), "a path leads outside", names)
    for name in names[:20]:
        with suppress(PagekeepError), archive.source(name).open() as stream:
            stream.read(_MAX_READ)
    if matches_tree(names):
        list(read_tree(archive))


def _check_document(packed: bytes) -> None:
    archive = documents.Archive(packed)
    total = 0
    for name in archive.names[:20]:
        with suppress(PagekeepError, UnreadableFile):
            total += len(archive.read(name))
    expect(total <= documents.MAX_READ_BYTES, "more was read than allowed", total)


def seeds() -> Iterator[bytes]:
    """Yield small documents of each type, packed and as lists of files, and a web archive."""
    for kind in ("docx", "odt", "epub"):
        for original in KINDS[kind].originals():
            yield original[:20_000]
            files = unpack(original)
            yield b"\0" + _BETWEEN.join(name.encode() + b"\n" + content[:2_000] for name, content in files.items())
            yield b"\0" + _BETWEEN.join(name.encode() + b"\n" + content for name, content in files.items())
    record = b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://a.example/\r\nContent-Type: text/html\r\n"
    record += b"Content-Length: 5\r\n\r\n<p>ab\r\n\r\n"
    pages = b'{"format": "json-pages-1.0"}\n{"url": "https://a.example/", "title": "x"}\n'
    yield (
        b"\0datapackage.json\n{}" + _BETWEEN + b"archive/a.warc\n" + record + _BETWEEN + b"pages/pages.jsonl\n" + pages
    )


TARGET = Target(
    check,
    seeds,
    max_bytes=8_000,
    words=(
        *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", _BETWEEN, b"word/document.xml\n"),
        *(
            b"mimetype\napplication/epub+zip",
            b"content.xml\n",
            b"<w:p>",
            b"<w:tbl>",
            b"<text:p>",
            b"<table:table-cell>",
        ),
        *(
            b"META-INF/container.xml\n",
            b"<itemref idref=",
            b"../",
            b"<!DOCTYPE x [",
            b"&x;",
            b"archive/a.warc\n",
            b"9999999999",
        ),
    ),
)
