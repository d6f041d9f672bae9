"""Documents on the command line: files, folders and stdin, in every command that takes a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from tests.capture.documents.samples import LINES, PDF, SAMPLES, TEXT, WORD

NOTES = "# Wind\n\n*north*   by west\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a PDF, a note, a page, a file that is not read, and one that cannot be."""
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    inner = tmp_path / "mixed" / "deeper"
    inner.mkdir(parents=True)
    (inner.parent / "harbour.PDF").write_bytes(PDF)
    (inner.parent / "data.bin").write_bytes(b"\0\1")
    (inner / "wind.md").write_text(NOTES)
    (inner / "zero.html").write_text("")
    return inner.parent


def run(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(cli, arguments, input=given, catch_exceptions=False)


def test_a_pdf_on_stdin_is_recognised_by_its_content(folder: Path) -> None:
    assert run("extract", "-", "--format", "markdown", given=PDF).stdout == TEXT
    assert run("extract", "-", "--type", "text", "--format", "markdown", given=PDF).stdout == TEXT


def test_the_type_decides_where_the_content_cannot(folder: Path) -> None:
    assert run("extract", "-", "--type", "markdown", "--format", "markdown", given=NOTES.encode()).stdout == NOTES
    explained = run("explain", "-", "--type", "markdown", given=NOTES.encode())
    assert "kept as it is" in explained.stdout
    unknown = run("extract", "-", "--type", "harbour", given=PDF)
    assert (unknown.exit_code, "Use one of html, text, markdown, pdf" in unknown.stderr) == (2, True)
    online = run("extract", "https://example.com/", "--type", "pdf")
    assert (online.exit_code, "--type is for files and stdin" in online.stderr) == (2, True)


def test_several_files_and_a_folder_are_printed_in_order_and_failures_listed(folder: Path) -> None:
    done = run("extract", str(folder), "--format", "markdown")
    assert done.exit_code == 2
    assert done.stdout == TEXT + NOTES
    assert "zero.html\n  Error: The page is empty." in done.stderr
    shown = json.loads(run("extract", str(folder), "--json").stdout)
    assert (shown["success"], [page["file_type"] for page in shown["pages"]]) == (False, ["PDF", "Markdown file"])
    assert shown["pages"][0]["file"] == str(folder / "harbour.PDF")
    assert shown["pages"][0]["page_count"] == 1
    assert [error["source"] for error in shown["errors"]] == [str(folder / "deeper" / "zero.html")]


def test_a_folder_is_saved_with_all_its_types_and_each_is_read_explained_and_given_back(folder: Path) -> None:
    done = run("save", str(folder), "--json")
    saved = {item["title"]: item for item in json.loads(done.stdout)["items"]}
    assert set(saved) == {"The old harbour", "Wind"}
    key = saved["The old harbour"]["id"]
    assert run("read", key).stdout.endswith(TEXT)
    assert "a PDF of 1 page" in run("explain", key).stdout
    assert run("read", key, "--original").stdout_bytes == PDF
    assert json.loads(run("read", key, "--json").stdout)["items"][0]["file_type"] == "PDF"
    assert "north" in run("search", "north").stdout
    assert key in run("search", f'"{LINES[0]}"').stdout


def test_a_document_on_stdin_needs_no_address_and_may_have_one(folder: Path) -> None:
    first, second = (json.loads(run("save", "-", "--json", given=PDF).stdout)["items"][0] for _ in range(2))
    assert (first["id"], first["url"].endswith("/document.pdf"), second["outcome"]) == (second["id"], True, "updated")
    named = run("save", "-", "--url", "example.com/h.pdf", "--json", given=PDF)
    assert json.loads(named.stdout)["items"][0]["url"] == "https://example.com/h.pdf"
    nameless = run("save", "-", given=b"<p>Some words.")
    assert (nameless.exit_code, "does not name its address" in nameless.stderr) == (2, True)


def test_a_folder_with_every_type_is_read(folder: Path) -> None:
    (folder / "all").mkdir()
    for name, data in SAMPLES.items():
        (folder / "all" / name).write_bytes(data)
    pages = json.loads(run("extract", str(folder / "all"), "--json").stdout)["pages"]
    assert {Path(page["file"]).name for page in pages if WORD in page["markdown"]} == set(SAMPLES)
    table = run("extract", "-", "--type", "csv", "--format", "markdown", given=SAMPLES["wall.csv"])
    assert f"| {WORD} | wall |" in table.stdout
