"""Bombs that every type in a ZIP archive shares: of the archive, and of the XML in it."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Iterator

from tests.capture.documents.tiny_office import pack, unpack
from tests.hostile.quines import make_quine, nest, swallow

_ENTITIES = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
LAUGHS = f'<!DOCTYPE x [<!ENTITY a0 "ha">{_ENTITIES}]>'


def archive_bombs(data: bytes, main: str) -> Iterator[tuple[str, bytes]]:
    """Yield a sound archive, whose main part is `main`, turned into bombs."""
    files = unpack(data)

    def repack(**changed: bytes) -> bytes:
        return pack({**files, **changed}, stored="mimetype")

    yield "main part of zeros", repack(**{main: bytes(80_000_000)})
    yield "a picture of zeros", pack({**files, "media/a.png": bytes(400_000_000)}, stored="mimetype")
    yield "many parts", pack({**files, **{f"p{n}": b"" for n in range(30_000)}}, stored="mimetype")
    yield (
        "many large parts",
        pack({**files, **{f"p{n}": _noise(n, 20_000) * 200 for n in range(90)}}, stored="mimetype"),
    )
    yield "sizes that lie", _declare(data, main, 100)
    yield "sizes that boast", _declare(data, main, 0xFFFFFFF0)
    yield "overlapping parts", _overlap(data)
    yield "no end of the list", data[:-22]
    yield "end of the list alone", b"PK\x03\x04" + data[-22:]
    yield "cut in half", data[: len(data) // 2]
    yield "encrypted parts", _set_flags(data)
    yield "bzip2", _recompress(files, zipfile.ZIP_BZIP2)
    yield "lzma", _recompress(files, zipfile.ZIP_LZMA)
    yield "main part twice", _twice(files, main)
    yield "paths upwards", pack({**files, "../../etc/passwd": b"x", "/abs": b"x", "a\\b": b"x"}, stored="mimetype")
    yield "an archive in itself", pack({**files, main: data}, stored="mimetype")
    yield from self_containing(files, main)
    source = files[main]
    start = source.index(b"<") if not source.startswith(b"<?xml") else source.index(b"?>") + 2
    yield "billion laughs", repack(**{main: LAUGHS.encode() + source[start:].replace(b">", b">&a9;", 3)})
    outside = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    yield "a file of the system", repack(**{main: outside + source[start:].replace(b">", b">&f;", 3)})
    yield "another encoding", repack(**{main: b'<?xml version="1.0" encoding="utf-7"?>' + source[start:]})
    yield "utf-16", repack(**{main: source[start:].decode("utf-8").encode("utf-16")})
    yield "no XML", repack(**{main: bytes(range(256)) * 100})
    yield "an empty part", repack(**{main: b""})
    names = b" ".join(b'a%d="%d"' % (n, n * 7919) for n in range(200_000))
    yield "many attributes", repack(**{main: source[start:].replace(b">", b" " + names + b">", 1)})
    yield "one long attribute", repack(**{main: source[start:].replace(b">", b' zz="' + _noise(1) * 8 + b'">', 1)})


def self_containing(files: dict[str, bytes], main: str) -> Iterator[tuple[str, bytes]]:
    """Yield archives that unpack to themselves, or to archives without end: as one more part, and as the main one."""
    other = "media/a.zip"
    rest = {name: data for name, data in files.items() if name != main}
    deep = nest(pack(files), 1_000)
    yield "a quine beside the parts", make_quine(files, other)
    yield "a quine as the main part", make_quine(rest, main)
    yield "1,000 archives in each other", pack({**files, other: deep}, stored=other)
    yield "1,000 archives as the main part", pack({**files, main: deep}, stored=main)
    yield "a part that has the list of parts", swallow(pack(files, stored="mimetype"), other)
    yield "a main part that has the list of parts", swallow(pack(rest, stored="mimetype"), main)


def _noise(seed: int, size: int = 100_000) -> bytes:
    pick = random.Random(seed)
    return bytes(pick.choice(b"abcdefghij klmnop") for _ in range(size))


def _declare(data: bytes, name: str, size: int) -> bytes:
    """Return the archive with another size for a part, in its list."""
    out = bytearray(data)
    place = out.index(b"PK\x01\x02")
    while out[place : place + 4] == b"PK\x01\x02":
        length, extra, comment = struct.unpack_from("<3H", out, place + 28)
        if out[place + 46 : place + 46 + length] == name.encode():
            struct.pack_into("<L", out, place + 24, size)
        place += 46 + length + extra + comment
    return bytes(out)


def _overlap(data: bytes) -> bytes:
    out = bytearray(data)
    place, first = out.index(b"PK\x01\x02"), None
    while out[place : place + 4] == b"PK\x01\x02":
        length, extra, comment = struct.unpack_from("<3H", out, place + 28)
        first = struct.unpack_from("<L", out, place + 42)[0] if first is None else first
        struct.pack_into("<L", out, place + 42, first)
        place += 46 + length + extra + comment
    return bytes(out)


def _set_flags(data: bytes) -> bytes:
    out = bytearray(data)
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = out.find(signature)
        while place >= 0:
            out[place + offset] |= 1
            place = out.find(signature, place + 4)
    return bytes(out)


def _recompress(files: dict[str, bytes], method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_STORED if name == "mimetype" else method)
    return out.getvalue()


def _twice(files: dict[str, bytes], main: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (*files.items(), (main.replace("x", "x"), bytes(1_000)), (main, files[main])):
            archive.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()
