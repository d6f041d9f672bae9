"""Pictures are decoded to their end; what is too large is downscaled, what is not a picture refused."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from pagekeep.capture.pictures import PICTURE, Checked, CheckPicture, Refused
from tests.doors.http.image_proxy.pictures import FORMATS, claims, picture
from tests.hostile import picture_mutations


def check(data: bytes, max_bytes: int = 5_000_000, *, thumbnail: bool = False) -> Checked | Refused:
    return CheckPicture(data, max_bytes, thumbnail).run()


def noise(form: str, size: tuple[int, int] = (900, 600), mode: str = "RGB") -> bytes:
    pixels = random.Random(1).randbytes(size[0] * size[1] * len(mode))
    out = BytesIO()
    Image.frombytes(mode, size, pixels).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_that_browsers_show_is_accepted_as_it_is(form: str) -> None:
    found = check(picture(form))
    assert isinstance(found, Checked)
    size = (32, 21) if form == "ICO" else (48, 32)  # an icon has several sizes, of which this is the largest
    assert (found.media_type, found.width, found.height) == (FORMATS[form], *size)
    assert (found.replacement, found.downscaled, found.thumbnail) == (None, False, None)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "AVIF"])
def test_picture_that_ends_early_is_damaged(form: str) -> None:
    data = noise(form, (90, 60))
    assert check(data[: len(data) * 2 // 3]) == Refused("not_a_picture" if form == "AVIF" else "damaged")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "BMP"])
def test_picture_that_claims_too_many_pixels_is_not_decoded(form: str) -> None:
    assert check(claims(form, 30_000, 30_000)) == Refused("too_large")


@pytest.mark.parametrize("data", [b"", b"<!doctype html><p>Sign in", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", bytes(100)])
def test_other_files_are_refused(data: bytes) -> None:
    assert check(data) in (Refused("not_a_picture"), Refused("damaged"))


@pytest.mark.parametrize(("mode", "media_type"), [("RGB", "image/jpeg"), ("RGBA", "image/webp")])
def test_larger_picture_is_downscaled_below_the_limit(mode: str, media_type: str) -> None:
    found = check(noise("PNG", mode=mode), 100_000)
    assert isinstance(found, Checked)
    assert found.downscaled
    assert found.media_type == media_type
    assert found.replacement is not None
    assert len(found.replacement) <= 100_000
    with Image.open(BytesIO(found.replacement)) as small:
        assert small.size == (found.width, found.height)
        assert abs(small.width / small.height - 1.5) < 0.02


def test_thumbnail_fits_a_list_and_stands_upright() -> None:
    out, exif = BytesIO(), Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (1200, 600), "red").save(out, "JPEG", exif=exif)
    found = check(out.getvalue(), thumbnail=True)
    assert isinstance(found, Checked)
    assert found.thumbnail is not None
    assert (found.thumbnail.width, found.thumbnail.height) == (180, 360)
    assert found.replacement is None
    with Image.open(BytesIO(found.thumbnail.body)) as small:
        assert small.size == (180, 360)


def test_animation_is_kept_whole() -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "green", "blue")]
    out = BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    found = check(out.getvalue(), thumbnail=True)
    assert isinstance(found, Checked)
    assert found.replacement is None
    assert found.thumbnail is not None


def test_limits_fit_the_largest_download() -> None:
    assert PICTURE.input_bytes > 20_000_000


def test_mutated_pictures_are_kept_or_refused() -> None:
    """`tests/hostile/picture_mutations.py` in a small number."""
    counts = Counter[str]()
    assert asyncio.run(picture_mutations.attack(5, counts)) == []
    assert counts.total() == 40
    assert counts["kept"]
    assert counts["damaged"]
