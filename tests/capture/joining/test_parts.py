"""The raw pages of an article in one file."""

from __future__ import annotations

from random import Random

import pytest

from pagekeep.capture.joined_file import Part, Parts, assemble, first_page, is_joined, pack, read_head, unpack
from pagekeep.errors import ParseError
from pagekeep.model import Fetched


def _page(number: int, body: bytes) -> Part:
    url = f"https://paper.example/story/{number}"
    headers = {"etag": f'"{number}"', "set-cookie": "session=1", "x-long": "x" * 9_000}
    fetched = Fetched(url, url, 200, headers, body, "utf-8", etag=f'"{number}"', rendered=number == 2)
    return Part(fetched, f"page {number}", "whole" if number == 3 else "page")


PAGES = Parts((_page(1, b"one\n\xff\x00"), _page(2, b""), _page(3, b"%PAGEKEEP-PAGES 1\n{}\n")), "Page 4 is missing.")


def test_every_page_comes_back_as_it_was_fetched() -> None:
    joined = pack(PAGES)
    assert is_joined(joined)
    assert (joined.url, joined.etag, joined.encoding) == ("https://paper.example/story/1", None, None)
    back = unpack(joined.body)
    assert back.missing == "Page 4 is missing."
    assert [part.fetched.body for part in back.parts] == [part.fetched.body for part in PAGES.parts]
    assert [(part.role, part.note) for part in back.parts] == [(part.role, part.note) for part in PAGES.parts]
    assert back.parts[1].fetched.rendered
    assert back.parts[0].fetched.etag == '"1"'
    assert pack(back).body == joined.body
    assert first_page(joined).body == b"one\n\xff\x00"


def test_cookies_are_not_kept_and_headers_are_bounded() -> None:
    headers = unpack(pack(PAGES).body).parts[0].fetched.headers
    assert "set-cookie" not in headers
    assert len(headers["x-long"]) == 4_000


def test_pages_are_put_together_again_from_their_bytes() -> None:
    body = pack(PAGES).body
    bodies = [part.fetched.body for part in PAGES.parts]
    assert assemble(read_head(body), bodies) == body
    with pytest.raises(ParseError):
        assemble(read_head(body), [*bodies[:-1], b"other"])


def test_anything_else_is_refused() -> None:
    body = pack(PAGES).body
    random = Random(3)
    for wrong in (b"", b"<html>", body[:40], body + b"x", body[:-1], body.replace(b'"size":6', b'"size":-6')):
        with pytest.raises(ParseError):
            unpack(wrong)
    for _ in range(500):
        mutant = bytearray(body)
        for _ in range(random.randint(1, 5)):
            mutant[random.randrange(len(mutant))] = random.randrange(256)
        try:
            unpack(bytes(mutant))
        except ParseError:
            continue
