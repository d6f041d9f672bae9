"""What a file type brings to the hostile tests, and how files are mutated."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.capture.documents.tiny_office import pack, unpack

WORDS = ["The harbour lies north of the town and is older than", "its walls, as the maps of the first keepers show."]
_NUMBERS = (b"99999999999", b"-1", b"1e30", b"0", b"nan", b"(((", b"<<", b"]")
_MARKUP = (
    b"99999999999",
    b"-1",
    b"<",
    b">",
    b'"',
    b"&#0;",
    b"&x;",
    b"</w:p>",
    b"<w:tbl>",
    b"]]>",
    b"<!--",
    b"\xff",
    b"\x00",
)


def mutate_bytes(data: bytes, pick: random.Random, pieces: tuple[bytes, ...] = _NUMBERS) -> bytes:
    """Return the file with some bytes changed, repeated, dropped, or numbers made huge."""
    out = bytearray(data)
    for _ in range(pick.choice((1, 3, 10, 40))):
        if len(out) < 20:
            break
        place = pick.randrange(8, len(out))
        kind = pick.randrange(6)
        if kind == 0:
            out[place] = pick.randrange(256)
        elif kind == 1:
            del out[place : place + pick.randrange(1, 60)]
        elif kind == 2:
            start = pick.randrange(len(out))
            out[place:place] = out[start : start + pick.randrange(200)]
        elif kind == 3:
            out[place : place + 1] = pick.choice(pieces)
        elif kind == 4:
            out[place:place] = bytes(pick.randrange(256) for _ in range(8))
        else:
            del out[pick.randrange(len(out) // 2, len(out)) :]
    return bytes(out)


def mutate_archive(data: bytes, pick: random.Random) -> bytes:
    """Return an archive that is mutated itself, or whose files are: changed, missing, exchanged, or with tags moved."""
    if pick.random() < 0.3:
        return mutate_bytes(data, pick)
    files = unpack(data)
    for _ in range(pick.choice((1, 1, 2, 4))):
        name, other = pick.choice(list(files)), pick.choice(list(files))
        how = pick.random()
        if how < 0.5:
            files[name] = mutate_bytes(files[name], pick, _MARKUP)
        elif how < 0.85:
            files[name] = _mutate_tags(files[name], pick)
        elif how < 0.92 and len(files) > 2:
            del files[name]
        else:
            files[name] = files[other]
    return pack(files, stored="mimetype")


def _mutate_tags(data: bytes, pick: random.Random) -> bytes:
    """Return XML with whole tags repeated, exchanged or dropped, mostly still XML."""
    parts = data.split(b"<")
    for _ in range(pick.choice((1, 2, 8))):
        if len(parts) < 3:
            break
        first, second = pick.randrange(1, len(parts)), pick.randrange(1, len(parts))
        how = pick.randrange(3)
        if how == 0:
            parts[first], parts[second] = parts[second], parts[first]
        elif how == 1:
            parts[first:first] = parts[second : second + pick.randrange(1, 30)]
        else:
            del parts[first]
    return b"<".join(parts)


@dataclass(frozen=True)
class Kind:
    """A file type under attack."""

    originals: Callable[[], list[bytes]]
    """Sound files of several shapes."""
    bombs: Callable[[], Iterator[tuple[str, bytes]]]
    """Files made to take time or memory, or to fool a reader."""
    mutate: Callable[[bytes, random.Random], bytes] = mutate_bytes
