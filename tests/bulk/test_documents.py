"""Documents in every kind of input: read in the workers, counted by type, and none stops a run."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from pagekeep import bulk
from pagekeep.capture.documents.file_types import FILE_TYPES, declared_type
from tests.bulk.making import page, response, warc
from tests.capture.documents.samples import PDF, SAMPLES, TEXT, WORD, pack

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
COLUMNS = ("place", "file_type", "markdown", "error_type")


def rows(source: Path, out: Path) -> tuple[list[dict[str, Any]], dict[str, int]]:
    report = bulk.run(source, out, workers=1, columns=COLUMNS, format="jsonl")
    written = [json.loads(line) for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]
    return written, dict(report.counts.types)


def test_responses_of_a_web_archive_are_read_by_type_or_content(tmp_path: Path) -> None:
    packed = {"content_type": "application/pdf", "headers": "Content-Encoding: gzip\r\n"}
    source = warc(
        tmp_path / "crawl.warc.gz",
        [
            response(PDF, content_type="application/pdf"),
            response(gzip.compress(PDF), url="https://example.com/packed", **packed),
            response(PDF, url="https://example.com/vague", content_type="application/octet-stream"),
            response(b"\0\1\2", url="https://example.com/other", content_type="application/octet-stream"),
            response(PDF[:60], url="https://example.com/damaged", content_type="application/pdf"),
            response(page(1).encode(), url="https://example.com/page"),
        ],
    )
    written, types = rows(source, tmp_path / "out")
    assert [row["file_type"] for row in written] == ["PDF", "PDF", "PDF", None, "PDF", None]
    assert [row["error_type"] for row in written] == [None, None, None, "UnsupportedContent", None, None]
    assert [row["markdown"] for row in written[:3]] == [TEXT] * 3
    assert types == {"PDF": 4, "HTML": 1}


def test_documents_of_a_folder_are_read_and_texts_only_where_they_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "harbour.pdf").write_bytes(PDF)
    (folder / "a.html").write_text(page(1))
    (folder / "a.txt").write_text("The text of a.")
    written, types = rows(folder, tmp_path / "out")
    assert [row["place"] for row in written] == ["a.html", "harbour.pdf"]
    assert types == {"PDF": 1, "HTML": 1}
    named, _ = rows(folder / "a.txt", tmp_path / "named")
    assert named[0]["markdown"] == "The text of a.\n"


def test_tables_hold_documents_as_bytes_and_as_base64(tmp_path: Path) -> None:
    pages = pyarrow.array([PDF, page(1).encode()], pyarrow.binary())
    pyarrow.parquet.write_table(pyarrow.table({"html": pages}), tmp_path / "bytes.parquet")
    encoded = b64encode(PDF).decode()
    (tmp_path / "lines.jsonl").write_text(
        "".join(json.dumps({"html": html}) + "\n" for html in (encoded, page(1), encoded[:-7], "SGVsbG8gd29ybGQhIQ"))
    )
    table, _ = rows(tmp_path / "bytes.parquet", tmp_path / "a")
    lines, types = rows(tmp_path / "lines.jsonl", tmp_path / "b")
    assert [row["file_type"] for row in table] == ["PDF", None]
    assert [row["file_type"] for row in lines] == ["PDF", None, None, None]
    assert table[0]["markdown"] == lines[0]["markdown"] == TEXT
    assert types == {"PDF": 1, "HTML": 3}


def test_every_type_of_a_web_archive_is_read_and_other_archives_are_not(tmp_path: Path) -> None:
    records = [
        response(data, url=f"https://example.com/{name}", content_type=declared_type(name) or "")
        for name, data in SAMPLES.items()
        if not name.endswith(("txt", "md"))
    ]
    other = response(pack({"a.txt": "a"}), url="https://example.com/a.zip", content_type="application/zip")
    written, types = rows(warc(tmp_path / "crawl.warc.gz", [*records, other]), tmp_path / "out")
    assert [WORD in (row["markdown"] or "") for row in written] == [True] * len(records) + [False]
    assert written[-1]["error_type"] == "UnsupportedContent"
    assert set(types) == {one.name for one in FILE_TYPES} - {"TSV", "Markdown file", "text file"}
