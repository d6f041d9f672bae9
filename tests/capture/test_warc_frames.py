"""Packed archives with damage: what follows is read, and damage is reported once."""

from __future__ import annotations

import gzip
import io

import pytest

from pagekeep.capture.warc_frames import Frame, Gap, read_frames
from tests.hostile.warc_records import record

HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
HIDING = HEAD + b"\0\xff\xff\0\0"
"""The beginning of a packed part whose next 65,535 bytes are its content, as it says."""


def read(*parts: bytes) -> list[Frame | Gap]:
    return list(read_frames(lambda: io.BytesIO(b"".join(parts)), "a.warc.gz", 1_000_000))


def numbers(found: list[Frame | Gap]) -> list[int]:
    return [int(one.data.partition(b"good.example/")[2].split()[0]) for one in found if isinstance(one, Frame)]


@pytest.mark.parametrize("count", [1, 20, 400])
def test_a_damaged_part_does_not_hide_those_that_follow(count: int) -> None:
    parts = [gzip.compress(record(f"https://good.example/{number}")) for number in range(count + 1)]
    found = read(parts[0], HIDING, *parts[1:])
    assert numbers(found) == list(range(count + 1))
    assert any(isinstance(one, Gap) for one in found)


def test_a_record_that_cannot_be_unpacked_any_further_does_not_hide_the_next() -> None:
    parts = [gzip.compress(record(f"https://good.example/{number}", b"<p>words</p>")) for number in range(3)]
    assert numbers(read(parts[0], parts[1][:-40], parts[2])) == [0, 2]


def test_beginnings_of_parts_with_nothing_in_them_are_one_gap() -> None:
    good = [gzip.compress(record(f"https://good.example/{number}")) for number in range(2)]
    found = read(good[0], HEAD * 20_000, good[1])
    assert numbers(found) == [0, 1]
    assert sum(isinstance(one, Gap) for one in found) <= 2
