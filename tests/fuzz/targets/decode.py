"""Bytes to text: whatever the bytes and the label of their encoding, there is a text that can be stored, or a typed error.

An input is a label, a line feed, and the bytes of a page.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.errors import PagekeepError
from pagekeep.extraction.input.decode import decode
from pagekeep.library.feeds.parse.fields import decode as decode_feed
from pagekeep.model import Options
from tests.fuzz.target import CORPUS, Target, expect, unescape
from tests.hostile.web_encodings import LABELS


def check(data: bytes) -> None:
    """Decode as a page and as a feed."""
    label, _, body = data.partition(b"\n")
    encoding = unescape(label) or None
    expect(_is_storable(decode_feed(body, encoding)), "a feed's text cannot be stored")
    try:
        text, _ = decode(body, Options(encoding=encoding))
    except PagekeepError:
        return
    expect(_is_storable(text), "a page's text cannot be stored")
    expect(text.strip("\ufeff\0 \t\r\n\f"), "an empty text")
    expect(decode(body, Options(encoding=encoding))[0] == text, "not the same twice")
    if b"\x1b" not in body and not body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            expect(text == body.decode("utf-8"), "UTF-8 was not read as such")
        except UnicodeDecodeError:
            return


def _is_storable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def seeds() -> Iterator[bytes]:
    """Yield the beginnings of our pages, and a line in every encoding of the web."""
    yield from (b"\n" + page.read_bytes()[:3_000] for page in sorted(CORPUS.glob("*.html"))[::3])
    for label in LABELS:
        yield (
            label.encode()
            + b"\n<!doctype html><meta charset="
            + label.encode()
            + b"><p>Gr\xc3\xb6\xdfe \x93caf\xe9\x94"
        )


TARGET = Target(
    check,
    seeds,
    max_bytes=6_000,
    words=(
        b"<meta charset=",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\x1b$B",
        b"~{",
        b"utf-16le",
        b"iso-2022-jp",
        b"\n",
    ),
)
