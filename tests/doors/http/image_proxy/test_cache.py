"""Pictures on disk: whole, found again, and never more than there is room for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pagekeep.doors.http.image_proxy import ImageCache


def key(number: int) -> str:
    return f"{number:064x}"[::-1]


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*/*"))


def test_what_was_kept_is_found_by_another_server_too(tmp_path: Path) -> None:
    ImageCache(tmp_path, 10_000).store(key(1), b"a picture")
    assert ImageCache(tmp_path, 10_000).find(key(1)) == b"a picture"
    assert ImageCache(tmp_path, 10_000).find(key(2)) is None


def test_what_was_dropped_is_gone(tmp_path: Path) -> None:
    shelf = ImageCache(tmp_path, 10_000)
    shelf.store(key(1), b"a picture")
    shelf.remove(key(1))
    shelf.remove(key(1))
    assert shelf.find(key(1)) is None


def test_the_bound_is_kept(tmp_path: Path) -> None:
    shelf = ImageCache(tmp_path, 10_000)
    for number in range(200):
        shelf.store(key(number), b"x" * 400)
        assert size_of(tmp_path) <= 10_000 + 10_000 // 20


def test_what_was_looked_at_longest_ago_goes_first(tmp_path: Path) -> None:
    shelf = ImageCache(tmp_path, 10_000)
    for number in range(24):
        shelf.store(key(number), b"x" * 400)
        path = next(tmp_path.glob(f"*/{key(number)}"))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    assert shelf.find(key(0))  # old, but looked at now
    for number in range(24, 28):
        shelf.store(key(number), b"x" * 400)
    assert shelf.find(key(0))
    assert shelf.find(key(1)) is None
    assert shelf.find(key(27))


@pytest.mark.parametrize(("bound", "size"), [(0, 1), (1_000, 100)])
def test_what_would_take_too_much_of_the_room_is_not_kept(tmp_path: Path, bound: int, size: int) -> None:
    ImageCache(tmp_path, bound).store(key(1), b"x" * size)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_costs_nothing_but_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    shelf = ImageCache(tmp_path / "file", 10_000)
    shelf.store(key(1), b"a picture")
    assert shelf.find(key(1)) is None


def test_others_cannot_look_into_it_and_backups_pass_it_over(tmp_path: Path) -> None:
    ImageCache(tmp_path / "images", 10_000).store(key(1), b"a picture")
    assert (tmp_path / "images" / key(1)[:2]).stat().st_mode & 0o077 == 0
    assert (
        (tmp_path / "images" / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    )


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    shelf = ImageCache(tmp_path, 10_000)
    shelf.store(key(1), b"one")
    shelf.store(key(1), b"two")
    assert [path.name for path in tmp_path.glob("*/*")] == [key(1)]
    assert shelf.find(key(1)) == b"two"
