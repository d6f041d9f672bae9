"""Pictures of items over the API: listed with the reason, uploaded by a browser, downloaded again."""

from __future__ import annotations

import random
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.site.gallery import Gallery, draw


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    with Gallery() as site:
        yield site


def wait_for(client: TestClient, job_id: str) -> dict[str, Any]:
    while (job := client.get(f"/api/v1/jobs/{job_id}").json()["job"])["state"] not in ("done", "dead"):
        time.sleep(0.05)
    return dict(job)


def test_save_answers_with_the_text_and_keeps_pictures_after_it(client: TestClient, gallery: Gallery) -> None:
    gallery.pictures |= {"a.png": draw(1), "private.png": 403}
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png", "private.png")}).json()["item"]
    listed = client.get("/api/v1/pictures", params={"item": saved["id"]}).json()["pictures"]
    assert [picture["url"] for picture in listed] == [gallery.source("a.png"), gallery.source("private.png")]
    job = wait_for(client, saved["pictures_job"])
    assert (job["task"], job["report"]["kept"], job["report"]["left_out"]) == ("pictures", 1, 1)
    read = client.get(f"/api/v1/items/{saved['id']}")
    states = [(picture["state"], picture["reason"], picture["main"]) for picture in read.json()["item"]["pictures"]]
    assert states == [("kept", None, True), ("left_out", "refused", False)]

    answer = client.post(
        "/api/v1/pictures", params={"item": saved["id"], "url": gallery.source("private.png")}, content=draw(2)
    )
    assert (answer.status_code, answer.json()["picture"]["state"]) == (200, "kept")
    again = client.get(f"/api/v1/items/{saved['id']}", headers={"If-None-Match": read.headers["etag"]})
    assert again.status_code == 200  # the pictures have changed, and so has the tag
    change = client.patch(
        f"/api/v1/items/{saved['id']}", json={"pinned": True}, headers={"If-Match": again.headers["etag"]}
    )
    assert change.status_code == 200
    assert client.post("/api/v1/pictures/fetch", params={"item": saved["id"]}).status_code == 204


@pytest.mark.parametrize(("body", "reason"), [(b"<p>Sign in", "not_a_picture"), (draw(1)[:300], "damaged")])
def test_upload_that_is_not_a_picture_is_left_out(
    client: TestClient, library: Store, gallery: Gallery, body: bytes, reason: str
) -> None:
    gallery.pictures["a.png"] = 403
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png")}).json()["item"]
    wait_for(client, saved["pictures_job"])
    place = {"item": saved["id"], "url": gallery.source("a.png")}
    answer = client.post("/api/v1/pictures", params=place, content=body).json()["picture"]
    assert (answer["state"], answer["reason"]) == ("left_out", reason)
    assert answer["message"]
    gallery.put_pictures("a.png")
    job = client.post("/api/v1/pictures/fetch", params={"item": saved["id"]}).json()["job"]
    assert wait_for(client, job["id"])["report"]["kept"] == 1


def _png(width: int, height: int, *, seed: int | None) -> bytes:
    """A picture of noise, which does not compress, or of one colour, which does."""
    line = b"\0" * (3 * width + 1)
    pixels = random.Random(seed).randbytes(len(line) * height) if seed is not None else line * height
    if seed is not None:
        pixels = b"".join(b"\0" + pixels[at + 1 : at + len(line)] for at in range(0, len(pixels), len(line)))
    return _png_of(width, height, zlib.compress(pixels, 1))


def _png_of(width: int, height: int, packed: bytes, *, after: bytes = b"") -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + after + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def _chunks(name: bytes, size: int, count: int) -> bytes:
    one = struct.pack(">I", size) + name + b"x\0\0" + b"y" * (size - 3)
    return (one + struct.pack(">I", zlib.crc32(one[4:]))) * count


def _zeros(megabytes: int) -> bytes:
    """Pack zeros: a megabyte, and the same packed block again and again; without a checksum, which is never reached."""
    packer = zlib.compressobj(9)
    first, again = (packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (megabytes - 1)


BOMBS: dict[str, Callable[[], bytes]] = {
    "pixels that are only in the header": lambda: _png_of(60_000, 60_000, random.Random(1).randbytes(500_000)),
    "a colour of two gigabytes": lambda: _png_of(30_000, 25_000, zlib.compress(b"\0" * 90_001, 9) * 5_000),
    "pixels without end": lambda: _png_of(900, 900, _zeros(600)),
    "a hundred thousand comments": lambda: _png_of(
        9, 9, zlib.compress(b"\0" * 252), after=_chunks(b"tEXt", 12, 100_000)
    ),
    "frames without end": lambda: (
        b"GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff"
        + b"\x2c\0\0\0\0\xff\xff\xff\xff\0\x02\x02\x44\x01\0" * 40_000
    ),
}


HARMLESS = ("pixels without end", "a hundred thousand comments")
"""The decoder stops where the picture ends."""


@pytest.mark.parametrize("megabytes", [0.4, 3, 19])
def test_picture_of_any_size_is_uploaded(client: TestClient, gallery: Gallery, megabytes: float) -> None:
    gallery.pictures["a.png"] = 403
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png")}).json()["item"]
    wait_for(client, saved["pictures_job"])
    picture = _png(1_000, int(megabytes * 1_000_000 / 3_000), seed=7)
    assert len(picture) > 390_000
    answer = client.post(
        "/api/v1/pictures",
        params={"item": saved["id"], "url": gallery.source("a.png")},
        content=picture,
        headers={"content-type": "image/png"},
    )
    assert (answer.status_code, answer.json()["picture"]["state"]) == (200, "kept")


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_reach_the_decoder_and_harm_nothing(client: TestClient, gallery: Gallery, bomb: str) -> None:
    gallery.pictures["a.png"] = 403
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png")}).json()["item"]
    wait_for(client, saved["pictures_job"])
    place = {"item": saved["id"], "url": gallery.source("a.png")}
    answer = client.post("/api/v1/pictures", params=place, content=BOMBS[bomb](), headers={"content-type": "image/png"})
    assert (answer.status_code, answer.json()["picture"]["state"]) == (200, "kept" if bomb in HARMLESS else "left_out")
    good = client.post("/api/v1/pictures", params=place, content=draw(2)).json()["picture"]
    assert good["state"] == "kept", "the worker goes on"


def test_upload_of_a_picture_that_the_item_does_not_show_is_refused(client: TestClient, gallery: Gallery) -> None:
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x")}).json()["item"]
    answer = client.post(
        "/api/v1/pictures", params={"item": saved["id"], "url": "https://example.com/x.png"}, content=draw(1)
    )
    assert answer.status_code == 404
