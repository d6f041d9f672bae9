"""Import files that a worker process reads."""

from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.errors import NotFound, ParseError, UnsupportedContent
from pagekeep.library.imports import reader as reading
from pagekeep.library.imports.input.row import Fault, Place, Row
from pagekeep.library.imports.reader import RowReader, copied, copied_stream
from pagekeep.library.imports.rows import CheckedRow, read_stream
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_rows, import_upload
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from pagekeep.workers import Limits
from tests import foreign
from tests.library.imports import samples
from tests.library.imports.conftest import everything


@pytest.fixture(scope="module")
def reader() -> Iterator[RowReader]:
    with RowReader() as one:
        yield one


def addresses(count: int) -> bytes:
    return "".join(f"https://example.com/{number}\n" for number in range(count)).encode()


@pytest.mark.parametrize("name", samples.ALL)
def test_the_rows_are_those_that_are_read_without_a_worker(reader: RowReader, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(samples.ALL[name][1])
    with path.open("rb") as file:
        there, here = list(reader.read(path, name, None)), list(read_stream(file, name, None))
    assert [format for format, _ in there] == [format for format, _ in here]
    if name not in ("markdown.zip", "pagekeep.md"):  # these have times of now
        assert [row for _, row in there] == [row for _, row in here]


def test_an_import_needs_no_parser_in_this_process(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        foreign.forbid(patch)
        report = import_upload(io.BytesIO(samples.netscape().encode()), "x", library, ImportPlan(Rulebook()))
        again = import_upload(io.BytesIO(samples.netscape().encode()), "x", library, ImportPlan(Rulebook()))
    assert (report.added, again.added, again.unchanged) == (samples.COUNT + 1, 0, samples.COUNT + 1)


def test_a_copy_is_deleted_once_it_is_open_and_rows_can_be_left_out(reader: RowReader) -> None:
    with copied(copied_stream(io.BytesIO(addresses(1_000)))) as path:
        rows = reader.read(path, "list.txt", None, skip=990, is_copy=True)
        next(rows)
        assert not path.exists()
        assert len(list(rows)) == 9
    assert not path.parent.exists()


def test_errors_of_the_file_arrive_as_they_are(reader: RowReader, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Cannot read the file"):
        list(reader.read(tmp_path / "none", "none", None))
    (tmp_path / "x").write_bytes(b"Dear diary")
    with pytest.raises(UnsupportedContent):
        list(reader.read(tmp_path / "x", "x", None))


@pytest.mark.parametrize(
    ("limits", "message", "is_told"),
    [
        (Limits(cpu_seconds=0.5), "Processing the file took more than 0.5 s of CPU time.", False),
        (Limits(megabytes=200), "The file needs too much memory.", True),
    ],
)
def test_a_file_over_a_limit_ends_with_an_error_and_the_rows_before_it_stay(
    library: Store, tmp_path: Path, limits: Limits, message: str, is_told: bool
) -> None:
    path = tmp_path / "export.json"
    entry = json.dumps({"url": "https://example.com/a", "is_archived": 0, "title": "T"}).encode()
    big = b'{"is_archived": 0, "content": [' + b'{"a":[]},' * 2_000_000 + b"1]}"
    path.write_bytes(b"[" + (entry + b",") * 250 + entry.replace(b"/a", b"/b") + b"," + big + b"]")
    report = ImportReport()
    with RowReader(limits) as reader, pytest.raises(ParseError) as caught:
        for _ in import_rows(reader.read(path, "x", None), library, ImportPlan(Rulebook()), report):
            pass
    assert caught.value.message == message
    # A process that is killed takes the rows of its last batch with it.
    assert set(everything(library)) == {"https://example.com/a"} | ({"https://example.com/b"} if is_told else set())
    assert report.unchanged == (249 if is_told else 199)


def test_a_worker_that_is_killed_ends_the_import_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(addresses(1_000))
    with RowReader() as reader:
        rows = reader.read(path, "list.txt", None)
        next(rows)
        process = reader._worker._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(ParseError, match="The worker process was killed"):
            list(rows)
        assert len(list(reader.read(path, "list.txt", None, skip=500))) == 500


def test_an_interrupted_reader_reads_no_more(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(addresses(10))
    with RowReader() as reader:
        reader.interrupt()
        with pytest.raises(ParseError, match="interrupted"):
            list(reader.read(path, "list.txt", None))


def test_a_row_that_is_too_long_loses_its_content_or_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_ROW_BYTES", 1_000)
    row = CheckedRow(Row(Place(1, 1), "https://example.com/a", content="x" * 2_000), "https://example.com/a", "e")
    _, short = reading._unpack(reading._pack("list", row))
    assert (short.row.url, short.row.content, len(short.row.remarks)) == ("https://example.com/a", "", 1)
    _, fault = reading._unpack(reading._pack("list", replace(row, row=replace(row.row, content="", note="x" * 2_000))))
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("The entry is too long")
