"""What may be shown is decided by its bytes, and how large it is before anything is decoded."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.doors.http.image_proxy import MAX_PIXELS, check_image
from pagekeep.errors import PagekeepError, TooLarge, UnsupportedContent
from tests.doors.http.image_proxy.pictures import FORMATS, claims, picture

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize("form", FORMATS)
def test_real_pictures_are_known_by_their_bytes(form: str) -> None:
    assert check_image(picture(form)) == FORMATS[form]


@pytest.mark.parametrize(
    "how", [{"lossless": True}, {"save_all": True}, {"exif": b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x00"}]
)
def test_every_sort_of_webp_is_known(how: dict[str, object]) -> None:
    assert check_image(picture("WEBP", **how)) == "image/webp"


def test_progressive_pictures_and_pictures_with_notes_are_known() -> None:
    assert check_image(picture("JPEG", progressive=True, comment=b"from the harbour" * 1000)) == "image/jpeg"
    assert check_image(picture("GIF", comment=b"from the harbour" * 1000)) == "image/gif"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SVG,
        b"\xef\xbb\xbf<?xml version='1.0'?>" + SVG,
        b"<html><script>alert(1)</script>",
        b"%PDF-1.7",
        b"II*\x00\x08\x00\x00\x00",
        b"\x1f\x8b\x08\x00" + SVG,
        b"\x00\x00\x00\x20ftypheic\x00\x00\x00\x00mif1heic",
        b"RIFF\x00\x00\x00\x00WAVEfmt ",
        b"GIF89a",
        b"GIF89a/*\x01\x00\x00\x00\x00*/=1;alert(1)",
        b"\x89PNG\r\n\x1a\n<script>alert(1)</script>",
        b"BM<script>alert(1)</script>",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_all_else_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedContent):
        check_image(data)


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "WEBP"])
def test_more_than_forty_megapixels_are_refused(form: str) -> None:
    assert check_image(claims(form, 8_000, 5_000)) == FORMATS[form]
    with pytest.raises(TooLarge):
        check_image(claims(form, 8_000, 5_001))


def test_a_webp_of_more_than_forty_megapixels_is_refused() -> None:
    with pytest.raises(TooLarge):
        check_image(claims("WEBP", 16_000, 16_000))
    large = bytearray(picture("WEBP", lossless=True))
    large[21:25] = struct.pack("<I", 0x3FFF | 0x3FFF << 14)
    with pytest.raises(TooLarge):
        check_image(bytes(large))


def test_a_frame_larger_than_its_screen_counts() -> None:
    data = bytearray(picture("GIF"))
    at = data.index(b"\x2c", 13)
    data[at + 5 : at + 9] = struct.pack("<HH", 60_000, 60_000)
    with pytest.raises(TooLarge):
        check_image(bytes(data))


def test_the_largest_picture_in_an_icon_counts() -> None:
    small, large = picture("PNG"), claims("PNG", 60_000, 60_000)
    head = struct.pack("<HHH", 0, 1, 2)
    first = struct.pack("<BBBBHHII", 48, 32, 0, 0, 1, 32, len(small), 38)
    second = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(large), 38 + len(small))
    with pytest.raises(TooLarge):
        check_image(head + first + second + small + large)


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("WEBP", "GIF")])
def test_a_picture_without_area_is_none(form: str) -> None:
    with pytest.raises(UnsupportedContent):
        check_image(claims(form, 0, 50))


def with_parts(form: str, parts: int) -> bytes:
    """A sound picture behind this many parts that say nothing."""
    data = picture(form)
    if form == "JPEG":
        return data[:2] + b"\xff\xe0\x00\x02" * parts + data[2:]
    if form == "GIF":
        at = data.index(b"\x2c", 13)
        return data[:at] + b"\x21\xfe" + b"\x01a" * parts + b"\x00" + data[at:]
    at = int.from_bytes(data[:4], "big")
    return data[:at] + b"\x00\x00\x00\x08free" * parts + data[at:]


@pytest.mark.parametrize("form", ["JPEG", "GIF", "AVIF"])
def test_a_picture_of_very_many_parts_is_given_up_on(form: str) -> None:
    assert check_image(with_parts(form, 1_000)) == FORMATS[form]
    with pytest.raises(UnsupportedContent):
        check_image(with_parts(form, 1_000_000))


@given(
    st.sampled_from(sorted(FORMATS)).flatmap(
        lambda form: st.tuples(st.just(picture(form)), st.integers(0, 400), st.binary(max_size=30))
    )
)
def test_damaged_pictures_raise_nothing_but_our_own_errors(case: tuple[bytes, int, bytes]) -> None:
    whole, at, noise = case
    for data in (whole[:at], whole[:at] + noise + whole[at + len(noise) :], whole[:at] + noise):
        try:
            kind = check_image(data)
        except PagekeepError:
            continue
        assert kind in FORMATS.values()


def test_the_bound_is_forty_megapixels() -> None:
    assert MAX_PIXELS == 40_000_000
