"""Damage to a WARC costs the damaged records; the full counts are in `tests/hostile/warc_records.py`."""

from __future__ import annotations

from pathlib import Path

from pagekeep.bulk.input_files import Record, RefusedRecord
from pagekeep.bulk.read_records import ReadState
from tests.bulk.input.test_read import read
from tests.hostile import warc_records
from tests.hostile.warc_records import BAD, record


def test_no_broken_record_hides_the_rest() -> None:
    files, faults = warc_records.attack(1)
    assert (files, faults) == (len(warc_records.SHAPES) * 3, [])


def test_a_record_with_an_invalid_length_is_listed_with_its_address(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc"
    path.write_bytes(record("https://a.example/") + record(BAD, length=b"abc") + record("https://b.example/"))
    found = read(path)
    assert [(type(each), each.url, each.place) for each in found] == [
        (Record, "https://a.example/", "pages.warc:0"),
        (RefusedRecord, BAD, "pages.warc:1"),
        (Record, "https://b.example/", "pages.warc:2"),
    ]


def test_a_long_page_that_contains_a_record_forges_none(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc"
    forged = b"a" * 5_000 + b"\r\n\r\n" + record("https://bank.example/")
    path.write_bytes(record("https://a.example/", length=b"abc") + record(BAD, forged))
    urls = [each.url for each in read(path, ReadState(max_bytes=1_000))]
    assert urls == ["https://a.example/", BAD]
