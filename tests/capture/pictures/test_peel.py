"""Peeling data URIs out of a page, whatever is in it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from pagekeep.capture import pictures as module
from pagekeep.capture.pictures import PeelTask, peel
from pagekeep.errors import TooLarge


def uri(data: bytes, kind: str = "image/png") -> bytes:
    return f"data:{kind};base64,".encode() + base64.b64encode(data)


def test_each_picture_becomes_one_address() -> None:
    one, two = bytes(range(256)) * 3, bytes(300)
    page = b'<img src="' + uri(one) + b'"> url(' + uri(two, "image/jpeg") + b") <img src='" + uri(one) + b"'>"
    done = peel(page)
    assert list(done.pictures.values()) == [one, two]
    first, second = (address.encode() for address in done.pictures)
    assert done.html == b'<img src="' + first + b'"> url(' + second + b") <img src='" + first + b"'>"
    assert first.startswith(b"https://singlefile.invalid/")
    assert second.endswith(b".jpg")


def test_small_ones_stay_and_others_go() -> None:
    pixel = uri(b"GIF89a", "image/gif")
    done = peel(b"<img src=" + pixel + b"><a href='" + uri(bytes(900), "font/woff2") + b"'><b>data: x")
    assert done.html == b"<img src=" + pixel + b"><a href=''><b>data: x"
    assert (done.pictures, done.dropped) == ({}, 1)
    text = b"data:image/svg+xml;charset=utf-8,%3Csvg%3E" + b"%20" * 100
    assert list(peel(text).pictures.values()) == [b"<svg>" + b" " * 100]


def test_limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "MAX_PICTURES", 2)
    done = peel(b" ".join(uri(bytes([n]) * 300) for n in range(5)))
    assert (len(done.pictures), done.dropped) == (2, 3)
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    (tmp_path / "page.html").write_bytes(bytes(11))
    with pytest.raises(TooLarge):
        PeelTask(str(tmp_path / "page.html")).run()


@pytest.mark.parametrize(
    "bit", [b"data:", b"data:a/", b"data:image/png;a=b", b"data:image/png;base64,=", b";base64,", b"%"]
)
def test_hostile_repetition_is_read_in_one_pass(bit: bytes) -> None:
    peel(bit * 200_000)
