"""Whole runs: every record is accounted for, whatever it is, and a run that was killed goes on as if nothing had been."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from pagekeep import bulk
from pagekeep.errors import NotFound, ParseError, StoreError, UnsupportedContent
from pagekeep.workers import Limits
from tests.bulk.making import jsonl, page, response, warc
from tests.hostile import bulk_kill


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [row for part in sorted(out.glob("part-*.parquet")) for row in pyarrow.parquet.read_table(part).to_pylist()]


def plan(source: Path, out: Path, **chosen: Any) -> bulk.Plan:
    return bulk.Plan(bulk.find_files([str(source)]), out, **{"workers": 1, **chosen})


def digests(out: Path) -> dict[str, str]:
    files = [*out.glob("part-*"), *(out / "_accounts").iterdir()]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def records() -> list[bytes]:
    """One of everything that a crawl holds."""
    site = "https://example.com"
    french = page(2, "fanal à huile").encode("latin-1")
    return [
        response(b"software: test", kind="warcinfo", url="about:info"),
        response(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
        response(page(1).encode(), url=f"{site}/good"),
        response(french, url=f"{site}/latin", content_type="text/html; charset=iso-8859-1"),
        response(gzip.compress(page(3).encode()), url=f"{site}/packed", headers="Content-Encoding: gzip\r\n"),
        response(b"%PDF-1.7", url=f"{site}/paper.pdf", content_type="application/pdf"),
        response(b"\x89PNG\r\n", url=f"{site}/photo.png", content_type="image/png"),
        response(b"", url=f"{site}/again", kind="revisit"),
        response(page(4).encode(), url=f"{site}/cut", warc="WARC-Truncated: length\r\n"),
        response(b"<p>" + b"x" * 3_000_000, url=f"{site}/huge"),
        response(b"\x00\xff" * 500, url=f"{site}/noise"),
        response(page(5).encode(), url=f"{site}/last"),
    ]


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz", "crawl.warc.zst"])
def test_every_record_of_an_archive_is_accounted_for(tmp_path: Path, name: str) -> None:
    source = warc(tmp_path / name, records())
    report = bulk.run(plan(source, tmp_path / "out", max_bytes=1_000_000))
    found = {row["url"].rpartition("/")[2]: row for row in rows_of(tmp_path / "out")}
    assert report.counts.records == len(found) == 10
    assert dict(report.skipped) == {"warcinfo": 1, "request": 1}
    assert found["good"]["title"] == "Page 1"
    assert "fanal à huile" in found["latin"]["markdown"]
    assert "Paragraph 2 of page 3" in found["packed"]["text"]
    kinds = {"photo.png": "UnsupportedContent", "again": "UnsupportedContent", "cut": "ParseError", "huge": "TooLarge"}
    assert {name: found[name]["error_type"] for name in kinds} == kinds
    assert found["last"]["error_type"] is None
    assert (found["paper.pdf"]["file_type"], found["paper.pdf"]["level"]) == ("PDF", "bookmark")  # it is damaged


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_a_file_that_ends_too_soon_gives_what_was_whole(tmp_path: Path, name: str) -> None:
    source = warc(tmp_path / name, [response(page(n).encode(), url=f"https://example.com/{n}") for n in range(3)])
    source.write_bytes(source.read_bytes()[:-200])
    bulk.run(plan(source, tmp_path / "out"))
    rows = rows_of(tmp_path / "out")
    assert [row["title"] for row in rows[:2]] == ["Page 0", "Page 1"]
    assert rows[-1]["error_type"] == "ParseError"


def test_tables_lines_and_files_give_the_same_rows(tmp_path: Path) -> None:
    pages = [page(number) for number in range(5)]
    lines = jsonl(tmp_path / "pages.jsonl", pages)
    table, folder = tmp_path / "pages.parquet", tmp_path / "files"
    columns = {"url": [f"https://example.com/{number}" for number in range(5)], "html": pages}
    pyarrow.parquet.write_table(pyarrow.table(columns), table)
    folder.mkdir()
    for number, html in enumerate(pages):
        (folder / f"{number}.html").write_text(html, "utf-8")
    texts = []
    for number, source in enumerate((lines, table, folder)):
        bulk.run(plan(source, tmp_path / f"out{number}"))
        texts.append([row["text"] for row in rows_of(tmp_path / f"out{number}")])
    assert texts[0] == texts[1] == texts[2]
    assert len(texts[0]) == 5


def test_a_line_that_is_broken_costs_that_line(tmp_path: Path) -> None:
    source = tmp_path / "pages.jsonl"
    good = [json.dumps({"html": page(number)}) for number in (1, 2)]
    source.write_text("\n".join([good[0], "{broken", "[1]", '{"html": null}', good[1]]) + "\n")
    bulk.run(plan(source, tmp_path / "out"))
    found = [row["error_type"] for row in rows_of(tmp_path / "out")]
    assert found == [None, "ParseError", "ParseError", "ParseError", None]


def test_a_page_that_hangs_or_dies_costs_that_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekeep.bulk.local.RESULT_TASK", "tests.bulk.misbehaving:make")
    source = jsonl(tmp_path / "pages.jsonl", [page(1), page(2, "LOOP"), page(3), page(4, "DIE"), page(5)])
    limits = Limits(cpu_seconds=2, wall_seconds=30)
    report = bulk.run(plan(source, tmp_path / "out", workers=2, limits=limits))
    assert [row["error_type"] for row in rows_of(tmp_path / "out")] == [None, "ParseError", None, "ParseError", None]
    assert report.counts.errors == {"ParseError": 2}


def test_filters_and_duplicates_leave_rows_out_and_say_so(tmp_path: Path) -> None:
    german = page(9).replace("lang=en", "lang=de")
    nearly = page(1).replace("Paragraph 5 of page 1 tells", "Paragraph 5 of page 1 says")
    source = jsonl(tmp_path / "pages.jsonl", [page(1), page(1), nearly, german, page(2), "<p>Few words."])
    report = bulk.run(plan(source, tmp_path / "out", languages=("en",), min_score=50, duplicates="near"))
    left_out = report.counts.left_out
    assert left_out["duplicate"] == 1
    assert left_out["near duplicate"] >= 1
    assert left_out["other language"] >= 1
    assert report.counts.rows + sum(left_out.values()) == report.counts.records == 6


def test_a_sample_is_the_same_on_every_run(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(number) for number in range(40)])
    for name in ("one", "two"):
        bulk.run(plan(source, tmp_path / name, sample=0.3, columns=("place",)))
    first = [row["place"] for row in rows_of(tmp_path / "one")]
    assert first == [row["place"] for row in rows_of(tmp_path / "two")]
    assert 3 < len(first) < 25


def test_only_the_columns_asked_for_are_written(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(1)])
    bulk.run(plan(source, tmp_path / "out", columns=("url", "words", "milliseconds"), format="jsonl"))
    row = json.loads((tmp_path / "out" / "part-000000.jsonl").read_text())
    assert list(row) == ["url", "words", "milliseconds"]
    assert row["milliseconds"] > 0


def test_bad_input_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(1)])
    with pytest.raises(NotFound):
        bulk.find_files([str(tmp_path / "nowhere")])
    with pytest.raises(ParseError, match="Unknown column"):
        plan(source, tmp_path / "out", columns=("nonsense",))
    (tmp_path / "odd.bin").write_bytes(b"x")
    with pytest.raises(UnsupportedContent):
        bulk.find_files([str(tmp_path / "odd.bin")])
    assert not (tmp_path / "out").exists()


def test_a_folder_with_another_run_is_not_touched(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(1)])
    bulk.run(plan(source, tmp_path / "out"))
    before = digests(tmp_path / "out")
    with pytest.raises(StoreError, match="finished"):
        bulk.run(plan(source, tmp_path / "out"))
    with pytest.raises(StoreError, match="other options: min_score"):
        bulk.run(plan(source, tmp_path / "out", min_score=7), resume=True)
    assert digests(tmp_path / "out") == before


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    assert bulk_kill.attack(tmp_path, 3, seed=1) == []


def test_a_run_killed_before_it_reported_its_last_part_makes_that_part_again(tmp_path: Path) -> None:
    source, out = jsonl(tmp_path / "pages.jsonl", [page(number % 9) for number in range(12)]), tmp_path / "out"
    chosen = plan(source, out, part_size=4, duplicates="near")
    bulk.run(chosen)
    whole = digests(out)
    (out / "_accounts" / "000001.json").unlink()  # all but the last step of the second part
    (out / "_accounts" / "000002.json").unlink()
    (out / "report.json").unlink()
    bulk.run(chosen, resume=True)
    assert digests(out) == whole


def test_extract_many_gives_a_row_for_each_page_in_order() -> None:
    rows = list(bulk.extract_many([(None, page(1)), ("https://example.com/", ""), (None, page(2))], workers=2))
    assert [row["title"] for row in rows] == ["Page 1", None, "Page 2"]


def test_a_run_can_be_asked_for_in_one_line(tmp_path: Path) -> None:
    for name in ("one", "two"):
        jsonl(tmp_path / f"{name}.jsonl", [page(1), page(2)])
    both = bulk.run([tmp_path / "one.jsonl", str(tmp_path / "two.jsonl")], tmp_path / "both", workers=1, limit=3)
    matched = bulk.run(str(tmp_path / "*.jsonl"), str(tmp_path / "matched"), workers=1, columns=("title",))
    assert (both.counts.rows, matched.counts.rows) == (3, 4)
    assert rows_of(tmp_path / "matched")[0] == {"title": "Page 1"}
    with pytest.raises(TypeError, match="output folder"):
        bulk.run(tmp_path / "one.jsonl")
