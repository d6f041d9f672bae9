"""Files of every kind give their records, and what is damaged says so."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from pagekeep import bulk
from pagekeep.bulk import read_records as reading
from pagekeep.bulk.input_files import InputColumns, Line, Record, RefusedRecord, Span
from pagekeep.bulk.read_records import ReadState, decode_line, read_records
from pagekeep.errors import UnsupportedContent
from tests.bulk.making import response, warc

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKED = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}


def read(path: Path, how: ReadState | None = None) -> list[Record | RefusedRecord]:
    how = how or ReadState()
    found = [record for item in bulk.find_files([str(path)]) for record in read_records(item, how)]
    return [decode_line(record) if isinstance(record, Line) else record for record in found]


def html_of(found: list[Record | RefusedRecord]) -> list[str | bytes]:
    return [record.html if isinstance(record, Record) else record.error.type for record in found]


@pytest.mark.parametrize("suffix", PACKED)
def test_lines_are_the_same_packed_or_not(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pages.jsonl{suffix}"
    lines = ['{"html": "<p>one"}', "", "  \t ", '  {"html": "<p>two\\nlines"}', "{broken", '{"html": "last"}']
    path.write_bytes(PACKED[suffix]("\n".join(lines).encode()))
    found = read(path)
    assert html_of(found) == ["<p>one", "<p>two\nlines", "ParseError", "last"]
    assert [record.place.rpartition(":")[2] for record in found] == ["0", "3", "4", "5"]


def test_lines_longer_than_what_is_read_at_once_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BUFFER_BYTES", 7)
    path = tmp_path / "pages.jsonl"
    pages = ["x" * length for length in range(40)]
    path.write_text("".join(json.dumps({"html": html}) + "\n" for html in pages))
    assert html_of(read(path)) == pages


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_that_is_too_long_costs_that_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(reading, "_MAX_LINE_BYTES", 100)
    path = tmp_path / f"pages.jsonl{suffix}"
    lines = [json.dumps({"html": "x" * length}) + "\n" for length in (1, 500, 2)]
    path.write_bytes(PACKED[suffix]("".join(lines).encode()))
    assert html_of(read(path)) == ["x", "TooLarge", "xx"]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["pages.jsonl", "page.html"])
def test_a_packed_file_that_is_cut_or_damaged_is_reported(tmp_path: Path, name: str, suffix: str) -> None:
    whole = PACKED[suffix](b"".join(json.dumps({"html": f"<p>{n}"}).encode() + b"\n" for n in range(5_000)))
    path = tmp_path / f"{name}{suffix}"
    for data in (whole[: len(whole) // 2], whole[:40] + b"\xff" * 40 + whole[80:], b"", b"no packed file"):
        path.write_bytes(data)
        assert all(isinstance(record, Record | RefusedRecord) for record in read(path))
    assert read(path)[-1].error.type == "ParseError"  # type: ignore[union-attr]


def test_a_wrong_column_in_the_first_file_is_reported_and_in_a_later_one_costs_that_file(tmp_path: Path) -> None:
    for number, name in enumerate(("html", "other", "html")):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({name: "<p>x"}) + "\n")
        pyarrow.parquet.write_table(pyarrow.table({name: ["<p>y"]}), tmp_path / f"{number}.parquet")
    wrong = ["UnsupportedContent", "UnsupportedContent"]
    assert html_of(read(tmp_path)) == ["<p>x", b"<p>y", *wrong, "<p>x", b"<p>y"]
    with pytest.raises(UnsupportedContent, match="no column body_html"):
        read(tmp_path, ReadState(InputColumns("body_html")))


def test_a_line_without_the_column_behind_one_with_it_costs_that_line(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"html": "a"}\n{"text": "b"}\n{"html": "c"}\n')
    assert html_of(read(path)) == ["a", "UnsupportedContent", "c"]


def test_text_in_a_table_is_text_whatever_the_page_says_of_itself(tmp_path: Path) -> None:
    html = "<meta charset=windows-1252><title>Grüße</title><p>" + "Ein Satz über Straßen und Bäume. " * 20
    table = pyarrow.table({"text": pyarrow.array([html]), "raw": pyarrow.array([html.encode("cp1252")])})
    pyarrow.parquet.write_table(table, tmp_path / "pages.parquet")
    for column in ("text", "raw"):
        out = tmp_path / column
        bulk.run(tmp_path / "pages.parquet", out, html_column=column, workers=1)
        (row,) = pyarrow.parquet.read_table(out / "part-000000.parquet").to_pylist()
        assert row["title"] == "Grüße"


def test_a_file_that_became_shorter_costs_the_lines_that_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"html": "a"}\n')
    line = Line("there", Span(str(path), 5, 100), InputColumns(), 1_000)
    found = decode_line(line)
    assert isinstance(found, RefusedRecord)
    assert "shorter" in found.error.message


def test_how_far_the_reading_is_grows_to_the_size_of_all_files(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text('{"html": "a"}\n' * 10)
    how, places = ReadState(), []
    files = bulk.find_files([str(tmp_path)])
    for item in files:
        for _ in read_records(item, how):
            places.append(how.position())
    assert places == sorted(places)
    assert how.position() == sum(item.size or 0 for item in files) == 3 * 140


PACKED_PAGE = gzip.compress(b"<p>packed</p>", mtime=0)
BROKEN_CONTENT = {
    "larger than the limit": (b"<p>" + b"a" * 3_000, ""),
    "a small archive of a large page": (gzip.compress(b"a" * 50_000_000), "Content-Encoding: gzip\r\n"),
    "two layers": (gzip.compress(gzip.compress(b"a" * 50_000_000)), "Content-Encoding: gzip, gzip\r\n"),
    "not gzip": (b"<p>plain</p>", "Content-Encoding: gzip\r\n"),
    "damaged gzip": (PACKED_PAGE[:12] + b"\xff\xff\xff" + PACKED_PAGE[15:], "Content-Encoding: gzip\r\n"),
    "not deflate": (b"zzzzz", "Content-Encoding: deflate\r\n"),
    "not brotli": (b"\x00\xff\xff", "Content-Encoding: br\r\n"),
    "not zstd": (b"zzzzz", "Content-Encoding: zstd\r\n"),
    "an unknown encoding": (b"<p>plain</p>", "Content-Encoding: rot13\r\n"),
    "chunks without sizes": (b"zz\r\nabc", "Transfer-Encoding: chunked\r\n"),
    "a chunk that is too long": (b"ffffffff\r\nabc", "Transfer-Encoding: chunked\r\n"),
}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("content", BROKEN_CONTENT)
def test_one_broken_record_never_hides_the_rest_of_a_warc(tmp_path: Path, content: str, suffix: str) -> None:
    body, headers = BROKEN_CONTENT[content]
    good = [response(b"<p>good</p>", url=f"https://example.com/{number}") for number in range(3)]
    bad = response(body, url="https://example.com/bad", headers=headers)
    path = warc(tmp_path / f"pages.warc{suffix}", [good[0], bad, *good[1:]])
    found = read(path, ReadState(max_bytes=2_000))
    assert [record.url for record in found if isinstance(record, Record)] == [
        f"https://example.com/{number}" for number in range(3)
    ]
    (refused,) = [record for record in found if isinstance(record, RefusedRecord)]
    assert (refused.url, refused.place.rpartition(":")[2]) == ("https://example.com/bad", "1")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (PACKED_PAGE, "Content-Encoding: gzip\r\n"),
        (b"5\r\n<p>pa\r\n8\r\ncked</p>\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n"),
        (
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(PACKED_PAGE), PACKED_PAGE),
            "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n",
        ),
    ],
)
def test_encoded_pages_of_a_warc_are_decoded(tmp_path: Path, body: bytes, headers: str) -> None:
    found = read(warc(tmp_path / "pages.warc", [response(body, headers=headers)]))
    assert html_of(found) == [b"<p>packed</p>"]
