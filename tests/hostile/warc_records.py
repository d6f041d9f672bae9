"""Broken, oversized and wrongly packed records at every place of a WARC: none hides the rest (H7), no matter what reads it, and every
gap is reported with its place (P8).

`python -m tests.hostile.warc_records [--full]`
"""

from __future__ import annotations

import gzip
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pagekeep import bulk
from pagekeep.bulk.input_files import Line, Record, RefusedRecord
from pagekeep.bulk.read_records import ReadState, read_records
from pagekeep.library.imports.formats import web_archive
from pagekeep.library.imports.input.row import Fault, Row
from pagekeep.library.imports.input.source import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GOOD: Final = 6
MAX_BYTES: Final = 20_000
PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}


def record(
    url: str,
    body: bytes = b"",
    *,
    http: bytes = b"",
    length: bytes | None = None,
    kind: bytes = b"response",
    head: bytes = b"",
) -> bytes:
    """Return a record; `length` replaces its true length, `head` is added to its headers."""
    body = body or b"<html><body><p>" + b"A page with words. " * 30 + b"</p></body></html>"
    content = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + http + b"\r\n" + body
    lines = [
        b"WARC/1.0",
        b"WARC-Type: " + kind,
        b"WARC-Target-URI: " + url.encode(),
        b"Content-Type: application/http; msgtype=response",
        *([b"Content-Length: " + (b"%d" % len(content) if length is None else length)] if length != b"none" else []),
        *([head] if head else []),
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + content + b"\r\n\r\n"


BAD: Final = "https://bad.example/"
NOISE: Final = random.Random(17).randbytes(60_000)
LENGTHS: Final = (
    b"abc",
    b"-5",
    b"",
    b"0",
    b"20",
    b"+7",
    b"1.5",
    b"0x10",
    b"9" * 40,
    b"9" * 400,
    b"-" + b"9" * 400,
    b"99999999999999",
    b"5000",
    b"60000",
    b"none",
)
SHAPES: Final[dict[str, bytes]] = {
    **{f"length {length[:16]!r} of {len(length)}": record(BAD, length=length) for length in LENGTHS},
    **{
        f"length {length[:16]!r} of {len(length)} of a request": record(BAD, length=length, kind=b"request")
        for length in LENGTHS
    },
    "oversized": record(BAD, b"<p>" + b"a" * 500_000),
    "oversized with a record inside": record(
        BAD, b"<p>" + b"a" * 300_000 + b"\r\n\r\n" + record("https://forged.example/")
    ),
    "oversized, length too large": record(BAD, b"a" * 500_000, length=b"900000"),
    "packed page": record(BAD, gzip.compress(bytes(50_000_000)), http=b"Content-Encoding: gzip\r\n"),
    "packed twice": record(
        BAD, gzip.compress(gzip.compress(bytes(50_000_000))), http=b"Content-Encoding: gzip, gzip\r\n"
    ),
    "damaged gzip": record(BAD, gzip.compress(b"words " * 100)[:40] + b"\xff" * 9, http=b"Content-Encoding: gzip\r\n"),
    "unknown coding": record(BAD, http=b"Content-Encoding: rot13\r\n"),
    **{
        f"no address of a {kind.decode()}": record(BAD, kind=kind).replace(
            b"WARC-Target-URI: " + BAD.encode() + b"\r\n", b""
        )
        for kind in (b"response", b"request", b"revisit")
    },
    "bad chunks": record(BAD, b"zz\r\nabc", http=b"Transfer-Encoding: chunked\r\n"),
    "endless chunk": record(BAD, b"ffffffff\r\nabc", http=b"Transfer-Encoding: chunked\r\n"),
    "no http": record(BAD, b"x").replace(b"HTTP/1.1 200 OK", b"\x00\x01\x02\x03 \xff\xfe"),
    "long header": record(BAD, head=b"X-Long: " + b"x" * 300_000),
    "many headers": record(BAD, head=b"\r\n".join(b"X-%d: y" % number for number in range(5_000))),
    "header without end": b"WARC/1.0\r\nWARC-Type: response\r\nX: " + b"y" * 100_000 + b"\r\n",
    "only a first line": b"WARC/1.0\r\n\r\n",
    "junk": NOISE + b"\r\n",
    "blank lines": b"\r\n" * 5_000,
    "text": b"WARC/ this is not a record\r\nWARC/x.y\r\n",
    "nul": bytes(70_000),
}
UNREPORTED: Final = ("blank lines", "nul", "no address of a revisit")
"""Between records these are nothing that was lost."""


def faults_of(shape: str, place: int, suffix: str) -> list[str]:
    """Put the shape at a place between good records; return what is wrong with what is read."""
    urls = [f"https://good.example/{number}" for number in range(GOOD)]
    parts = [PACKERS[suffix](record(url)) for url in urls]
    packed = PACKERS[suffix](SHAPES[shape])
    if shape == "junk":
        packed = NOISE + b"\r\n"  # in a packed archive: bytes that cannot be unpacked
    parts.insert(place, packed)
    where = f"{shape} at {place}{suffix}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pages.warc{suffix}"
        path.write_bytes(b"".join(parts))
        state = ReadState(max_bytes=MAX_BYTES)
        try:
            every = [each for item in bulk.find_files([str(path)]) for each in read_records(item, state)]
            found = [each for each in every if not isinstance(each, Line)]
        except Exception as error:
            return [f"{where}: {type(error).__name__}: {error}"[:200]]
        faults = imported_faults(path, shape, where, urls)
    read = [each.url for each in found if isinstance(each, Record) and each.url not in (BAD, None)]
    faults += [f"{where}: read {read}"] if read != urls else []
    listed = [each for each in found if isinstance(each, RefusedRecord) or each.url in (BAD, None)]
    if not (listed or state.skipped) and shape not in ("junk", "text", *UNREPORTED):
        faults.append(f"{where}: the failure is not listed")
    return faults


def imported_faults(path: Path, shape: str, where: str, urls: list[str]) -> list[str]:
    """Return what is wrong with what an import into the library reads of the file."""
    try:
        rows = list(web_archive.read(Source(path.name, lambda: path.open("rb"))))
    except Exception as error:
        return [f"{where}, import: {type(error).__name__}: {error}"[:200]]
    pages = [row.url for row in rows if isinstance(row, Row) and not row.url.startswith((BAD, "https://forged."))]
    faults = [f"{where}, import: read {pages}"] if pages != urls else []
    gaps = [row for row in rows if isinstance(row, Fault)]
    bad = [row for row in rows if isinstance(row, Row) and row.url == BAD]
    if not (gaps or bad) and shape not in UNREPORTED and not shape.endswith("request"):
        faults.append(f"{where}, import: the failure is not listed")
    faults += [
        f"{where}, import: {gap.reason}"
        for gap in gaps
        if not re.search(r"byte|record|encoding|larger", gap.reason, re.I)
    ]
    if "request" in shape and "length" in shape and not gaps and shape.split("'")[1] in ("abc", "-5", "9" * 16):
        faults.append(f"{where}, import: the false length is not reported")
    return faults


def attack(places: int) -> tuple[int, list[str]]:
    """Try every shape in every packing at this many places; return how many files that were, and the faults."""
    files, faults = 0, []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, shape in enumerate(SHAPES):
        for suffix in PACKERS:
            for place in range(GOOD + 1) if places > GOOD else ((number + len(suffix)) % (GOOD + 1),):
                files += 1
                faults += faults_of(shape, place, suffix)
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return files, faults + ([f"memory grew by {growth:.0f} MB"] if growth > 150 else [])


if __name__ == "__main__":
    began = time.monotonic()
    tried, wrong = attack(GOOD + 1 if "--full" in sys.argv else 1)
    print(f"{len(SHAPES)} shapes, {tried} archives in {time.monotonic() - began:.0f} s, {len(wrong)} faults")
    print("\n".join(wrong))
    sys.exit(bool(wrong))
