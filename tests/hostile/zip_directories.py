"""ZIP archives whose list of files is forged: bounded memory and typed errors, however Python finds the list (H12, P12).

`python -m tests.hostile.zip_directories [--full]`
"""

from __future__ import annotations

import io
import random
import resource
import struct
import sys
import time
import zipfile
from collections.abc import Iterator
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input import source as module
from pagekeep.library.imports.input.source import Archive
from tests.hostile.quines import make_quine, nest, swallow

_ENTRY: Final = b"PK\x01\x02"
MAX_GROWTH_MB: Final = 600
"""Python keeps about 600 bytes for each of the 500,000 files that are allowed, besides the list itself."""


def zipped(count: int, name: str = "f") -> bytes:
    """Return an archive of empty files, whose list is built here: `zipfile` would take minutes for a million."""
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"x"
    entries = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, len(file), 0, 0, 0, 0, 0, 0) + file
        for file in (f"{name}{number}".encode() for number in range(count))
    )
    return local + entries + _end(min(count, 65_535), len(entries), len(local))


def _end(count: int, size: int, offset: int, comment: bytes = b"", comment_size: int | None = None) -> bytes:
    length = len(comment) if comment_size is None else comment_size
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, size, offset, length) + comment


def _zip64(count: int, size: int, offset: int, place: int) -> bytes:
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, offset)
    return record + struct.pack("<4sLQL", b"PK\x06\x07", 0, place, 1)


def archives(files: int, chance: random.Random, mutations: int) -> Iterator[tuple[str, bytes]]:
    """Yield archives; `files` is more than what is allowed."""
    plain = zipped(files)
    body, end = plain[:-22], plain[-22:]
    size, offset = struct.unpack("<2L", end[12:20])
    yield "too many files", plain
    yield "too many files, few declared", body + _end(1, size, offset)
    yield "too many files, none declared", body + _end(0, size, offset)
    yield "long names", zipped(files // 10, "n" * 500)
    yield "list declared empty", body + _end(files % 65_536, 0, offset)
    yield "list declared huge", body + _end(1, 0xFFFFFFFE, 0)
    yield "list before the file", body + _end(1, len(body) + 100, offset)
    yield "signature in the comment", body + _end(1, size, offset, b"PK\x05\x06" + bytes(18))
    yield "signature in the offset", body + _end(1, size, offset)[:-6] + b"PK\x05\x06" + bytes(2)
    yield "long comment", body + _end(1, size, offset, b" " * 65_535)
    yield "comment longer than said", body + _end(1, size, offset, b" " * 65_535, 5)
    yield "comment shorter than said", body + _end(1, size, offset, b" " * 5, 65_535)
    for declared in (0, 1, files, 2**63, 2**64 - 1):
        for length in (0, size, 2**40, 2**64 - 1):
            for place in (0, len(body), 2**63 - 1, 2**64 - 1):
                record = _zip64(declared, length, offset, place)
                yield f"zip64 {declared} {length} {place}", body + record + _end(65_535, 0xFFFFFFFF, 0xFFFFFFFF)
    far = _zip64(files, size, offset, len(body)) + _end(0, 0, offset, b" " * 65_535)
    yield "zip64 far from the end", body + far
    yield "two ends", body + _end(0, 0, offset) + body + _end(1, size, offset)
    yield "bytes before", b"MZ" * 5_000 + plain
    yield "bytes behind", plain + b"\x00" * 5_000
    yield "only an end", _end(65_535, 0xFFFFFFFF, 0xFFFFFFFF)
    small = _sample()
    yield "a quine", make_quine(_FILES, "folder/a.zip")
    yield "a quine that looks like an export", make_quine({}, "folder/export.json")
    yield "1,000 archives in each other", nest(small, 1_000)
    yield "a file that has the list of files", swallow(small, "folder/a.json")
    yield "one file listed 1,000 times", _listed(small, 1_000)
    for number in range(mutations):
        harmed = bytearray(small)
        for _ in range(chance.randrange(1, 6)):
            harmed[chance.randrange(max(0, len(small) - 400), len(small))] = chance.randrange(256)
        yield f"mutation {number}", bytes(harmed)
    for length in range(0, len(small), max(1, len(small) // 100)):
        yield f"cut at {length}", small[:length]


_FILES: Final = {f"folder/file {number}.json": b'[{"href": "https://example.com/"}]' * 30 for number in range(6)}


def _sample() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in _FILES.items():
            archive.writestr(name, data)
    return out.getvalue()


def _listed(data: bytes, times: int) -> bytes:
    """Return the archive with the first entry of its list many times, under other names, all for the same bytes."""
    start = data.index(_ENTRY)
    end = data.index(_ENTRY, start + 4)
    entry = data[start:end]
    index = b"".join(entry.replace(b"file 0", b"%06d" % number) for number in range(times))
    return data[:start] + index + _end(times, len(index), start)


class CountedFile(io.BytesIO):
    """Knows the longest read."""

    longest = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.longest = max(self.longest, len(found))
        return found


def faults_of(shape: str, data: bytes) -> list[str]:
    """Open the archive and read its files; return what is wrong."""
    file = CountedFile(data)
    try:
        archive = Archive(file, "export.zip")
        names = archive.names()
        for name in names[:50]:
            try:
                with archive.source(name).text() as stream:
                    stream.read(100_000)
            except PagekeepError:
                continue
    except PagekeepError:
        names = []
    except Exception as error:
        return [f"{shape}: {type(error).__name__}: {error}"[:200]]
    faults = [f"{shape}: {len(names)} files were listed"] if len(names) > module.MAX_FILES else []
    if file.longest > module.MAX_INDEX_BYTES:
        faults.append(f"{shape}: {file.longest} bytes were read at once")
    return faults


def attack(files: int, mutations: int) -> tuple[int, list[str]]:
    """Return how many archives were tried, and the faults."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count, faults = 0, []
    for shape, data in archives(files, random.Random(12), mutations):
        count += 1
        faults += faults_of(shape, data)
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return count, faults + ([f"memory grew by {growth:.0f} MB"] if growth > MAX_GROWTH_MB else [])


if __name__ == "__main__":
    began = time.monotonic()
    full = "--full" in sys.argv
    if not full:
        module.MAX_FILES, module.MAX_INDEX_BYTES = 1_000, 200_000  # type: ignore[misc]
    tried, wrong = attack(600_000 if full else 1_200, 5_000 if full else 300)
    print(f"{tried} archives in {time.monotonic() - began:.0f} s, {len(wrong)} faults")
    print("\n".join(wrong))
    sys.exit(bool(wrong))
