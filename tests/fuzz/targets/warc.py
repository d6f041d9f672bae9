"""WARC files: whatever is between two good records, both are read, and every byte is in a record or in a reported gap (P8).

An input is a sign for how the parts are packed, and what is between the records.
"""

from __future__ import annotations

import gzip
import io
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pagekeep.bulk.input_files import Input
from pagekeep.bulk.read_records import WarcReader
from pagekeep.capture.warc_frames import Frame, read_frames
from pagekeep.library.imports.formats.web_archive import read
from pagekeep.library.imports.input.row import Row
from pagekeep.library.imports.input.source import Source
from tests.fuzz.target import Target, expect
from tests.hostile.warc_records import SHAPES, record

FIRST, LAST = (record(f"https://good.example/{name}", b"<p>words</p>") for name in ("first", "last"))
_FILE = Path(tempfile.gettempdir()) / "fuzz.warc"
_BLANK = b"\r\n \t\0"


def pack(data: bytes) -> tuple[bytes, str]:
    """Return the archive that an input means, and its name."""
    middle = data[1:] + b"\r\n"  # a record begins a line
    match data[:1]:
        case b"1":
            return gzip.compress(FIRST, mtime=0) + gzip.compress(middle, mtime=0) + gzip.compress(
                LAST, mtime=0
            ), "a.warc.gz"
        case b"2":  # whatever it is, between packed parts
            return gzip.compress(FIRST, mtime=0) + middle + gzip.compress(LAST, mtime=0), "a.warc.gz"
        case b"3":  # in one part
            return gzip.compress(FIRST + middle + LAST, mtime=0), "a.warc.gz"
        case _:
            return FIRST + middle + LAST, "a.warc"


def check(data: bytes) -> None:
    """Read the archive as frames, as an import and as a bulk run."""
    archive, name = pack(data)
    found = list(read_frames(lambda: io.BytesIO(archive), name, 10_000_000))
    frames = [one.data for one in found if isinstance(one, Frame)]
    gaps = len(found) - len(frames)
    plain = data[1:] if data[:1] != b"2" else b"".join(_unpack(data[1:]))
    rest = FIRST + plain + b"\r\n" + LAST
    expect(frames and frames[0] == FIRST.removesuffix(b"\r\n\r\n"), "the first record is not read")
    # A length that ends at the end of another record is right: then that one is inside.
    expect(any(b"https://good.example/last" in frame for frame in frames), "the last record is lost")
    if not gaps and data[:1] != b"2":
        for frame in frames:
            before, there, rest = rest.partition(frame)
            expect(there, "a record that is not in the file")
            expect(not before.strip(_BLANK), "bytes are neither read nor reported", before)
        expect(not rest.strip(_BLANK), "bytes at the end are neither read nor reported", rest)
    rows = list(read(Source(name, lambda: _open(archive))))
    urls = [row.url for row in rows if isinstance(row, Row)]
    expect("https://good.example/first" in urls, "an import loses the first page", rows)
    _check_bulk(archive)


def _check_bulk(archive: bytes) -> None:
    _FILE.write_bytes(archive)
    reader = WarcReader(Input(str(_FILE), _FILE.name, "warc"), 1_000_000, Counter())
    with _FILE.open("rb") as stream:
        urls = [one.url for one in reader.read(stream)]
    expect("https://good.example/first" in urls, "a bulk run loses the first page", urls)


def _open(archive: bytes) -> BinaryIO:
    return io.BytesIO(archive)


def _unpack(data: bytes) -> Iterator[bytes]:
    try:
        yield zlib.decompressobj(31).decompress(data)
    except zlib.error:
        return


def seeds() -> Iterator[bytes]:
    """Yield records of every bad shape, each in a different packing, and good ones of other types."""
    for number, shape in enumerate(shape for shape in SHAPES.values() if len(shape) < 3_000):
        yield b"%d" % (number % 4) + shape
    yield b"0WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 27\r\n\r\nsoftware: pagekeep/1.0.0\r\nx\r\n\r\n"
    yield b"2" + gzip.compress(record("https://other.example/"), mtime=0)
    yield b"0" + record("https://other.example/", http=b"Transfer-Encoding: chunked\r\n", body=b"3\r\nabc\r\n0\r\n\r\n")


TARGET = Target(
    check,
    seeds,
    max_bytes=3_000,
    words=(
        *(
            b"WARC/1.0\r\n",
            b"WARC/1.1\r\n",
            b"WARC-Type: ",
            b"response",
            b"revisit",
            b"warcinfo",
            b"metadata",
            b"resource",
        ),
        *(
            b"Content-Length: ",
            b"\r\n\r\n",
            b"WARC-Target-URI: ",
            b"Content-Encoding: gzip\r\n",
            b"HTTP/1.1 200 OK\r\n",
        ),
        *(
            b"Transfer-Encoding: chunked\r\n",
            b"WARC-Truncated: length\r\n",
            b"software: pagekeep/",
            b"\x1f\x8b\x08",
            b"(\xb5/\xfd",
        ),
    ),
)
