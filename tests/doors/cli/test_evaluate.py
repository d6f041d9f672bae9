"""`pagekeep evaluate`, from the command line to its output and exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli

STORY = "Nobody had asked for the ferry to stop, and yet it did, an hour before dusk, in the middle of the strait. "


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, ["evaluate", *map(str, args)])


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two pages of different kinds; each reference holds words its page lacks, so no extractor reaches an F1 of 1."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, kind in (("ferry", "article"), ("manual", "documentation")):
        paragraphs = f"<p>{STORY * 3}</p>" * 4
        (folder / f"{name}.html").write_text(f"<title>{name}</title><article><h1>{name}</h1>{paragraphs}</article>")
        gold = {"url": f"https://strait.example/{name}", "kind": kind, "title": name, "text": STORY * 12 + "lost words"}
        (folder / f"{name}.json").write_text(json.dumps(gold))
    return folder


def floor(folder: Path, value: float) -> Path:
    file = folder / "gate.toml"
    file.write_text(f"[all]\nf1 = {value}\n")
    return file


def test_prints_a_header_and_a_row_per_kind_in_a_pipe(corpus: Path) -> None:
    result = run(corpus)
    assert result.exit_code == 0
    header, *rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert {len(row) for row in rows} == {len(header)}
    assert {"article", "documentation"} <= {row[0] for row in rows}


def test_limit_measures_only_this_many_pages(corpus: Path) -> None:
    assert "documentation" not in run(corpus, "--limit", "1").stdout


def test_writes_the_report_to_the_requested_place(corpus: Path, tmp_path: Path) -> None:
    assert run(corpus, "--out", tmp_path / "made").exit_code == 0
    assert {"summary.csv", "history.csv", "report.html"} <= {file.name for file in (tmp_path / "made").iterdir()}


def test_broken_floor_is_named_and_exits_with_1(corpus: Path, tmp_path: Path) -> None:
    result = run(corpus, "--gate", floor(tmp_path, 1.0))
    assert result.exit_code == 1
    assert "Below the gate: all.f1" in result.stderr


def test_kept_gate_exits_with_0(corpus: Path, tmp_path: Path) -> None:
    result = run(corpus, "--gate", floor(tmp_path, 0.5))
    assert (result.exit_code, result.stderr) == (0, "")


def test_missing_corpus_is_bad_input(tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "nowhere" in result.stderr


def test_missing_gate_file_is_bad_input(corpus: Path) -> None:
    result = run(corpus, "--gate", "nowhere.toml")
    assert result.exit_code == 2
    assert "nowhere.toml" in result.stderr


def test_draws_a_table_on_a_terminal(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekeep.doors.cli.output.is_terminal", lambda: True)
    result = run(corpus)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].startswith("kind  pa")
    assert "\t" not in result.stdout


def test_markdown_beside_pages_is_compared_and_differences_are_named(tmp_path: Path) -> None:
    sentence = "The miller counted the sacks until the tide turned again and the great wheel stood still. " * 8
    for name, reference in (("right", sentence), ("wrong", f"## Flour\n\n{sentence}")):
        (tmp_path / f"{name}.html").write_text(f"<article><p>{sentence}</p><p>{sentence}</p></article>", "utf-8")
        (tmp_path / f"{name}.md").write_text(f"{reference}\n\n{sentence}", "utf-8")
    result = run(tmp_path)
    assert result.exit_code == 0
    assert result.output.splitlines()[1].split("\t")[:2] == ["2", "1"]
    assert result.output.splitlines()[2] == "wrong: headings"
    assert run(tmp_path, "--gate", "floors.toml").exit_code == 2
