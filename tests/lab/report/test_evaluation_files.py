from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from pagekeep.errors import ParseError
from pagekeep.model import PARSER_VERSION, Page
from pagekeep_lab import run
from pagekeep_lab.evaluation_report import HISTORY_COLUMNS, append_history, history_row, read_git_sha

AddPage = Callable[..., Path]
Echo = Callable[[bytes, str | None], Page]

SEED = (
    "run_at,git_sha,ok_count,error_count,avg_similarity,std_similarity,coverage_words,std_coverage_words,coverage_links,"
    "std_coverage_links,coverage_images,std_coverage_images,coverage_videos,std_coverage_videos,missing_words,extra_words,"
    "missing_links,extra_links,missing_images,extra_images,missing_videos,extra_videos"
)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_summary_has_one_row_a_page(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    add_page("a", "boom", author=None)
    corpus = add_page("b", "one two, three four")
    run(corpus, out=tmp_path / "new" / "out", extractor=echoing)
    first, second = rows_of(tmp_path / "new" / "out" / "summary.csv")
    assert (first["name"], first["error"], first["f1"], first["missing_words"]) == (
        "a",
        "ZeroDivisionError",
        "0.0000",
        "4",
    )
    assert (first["author_right"], second["author_right"]) == ("", "no")
    assert (second["f1"], second["strategy"], second["paragraphs"]) == ("1.0000", "readability", "1")


def test_history_keeps_the_seed_columns_first(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    run(add_page("a"), out=tmp_path, extractor=echoing)
    head = (tmp_path / "history.csv").read_text("utf-8").splitlines()[0]
    assert head.startswith(SEED + ",")


def test_history_gains_a_row_a_run(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    add_page("a", "one two", links=["https://example.com/x"])
    corpus = add_page("b", kind="forum")
    for _ in range(3):
        run(corpus, out=tmp_path, extractor=echoing)
    rows = rows_of(tmp_path / "history.csv")
    assert len(rows) == 3
    last = rows[-1]
    assert (last["ok_count"], last["error_count"], last["missing_words"]) == ("2", "0", "2")
    assert (last["f1_all"], last["f1_forum"], last["f1_product"]) == ("0.8333", "1.0000", "")
    assert (last["coverage_words"], last["coverage_links"], last["missing_links"]) == ("0.7500", "0.0000", "1")
    assert (last["coverage_images"], last["parser_version"]) == ("", str(PARSER_VERSION))


def test_an_older_history_with_fewer_columns_is_continued(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    history = tmp_path / "history.csv"
    history.write_text(f"{SEED}\n2020-01-01T00:00:00Z,abc{',1' * 20}\n", "utf-8")
    run(add_page("a"), out=tmp_path, extractor=echoing)
    old, new = rows_of(history)
    assert (old["run_at"], old["git_sha"], old["extra_videos"], old["f1_all"]) == (
        "2020-01-01T00:00:00Z",
        "abc",
        "1",
        "",
    )
    assert new["f1_all"] == "1.0000"


def test_a_foreign_history_is_refused_and_kept(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    history = tmp_path / "history.csv"
    history.write_text("year,rain\n1999,12\n", "utf-8")
    report = run(add_page("a"), extractor=echoing)
    with pytest.raises(ParseError, match="year, rain"):
        append_history(history, history_row(report, "now", ""))
    assert history.read_text("utf-8") == "year,rain\n1999,12\n"


def test_history_row_fills_every_column(add_page: AddPage, echoing: Echo) -> None:
    row = history_row(run(add_page("a"), extractor=echoing), "2025-01-01T00:00:00Z", "abc")
    assert tuple(row) == HISTORY_COLUMNS
    assert (row["run_at"], row["git_sha"], row["corpus"]) == ("2025-01-01T00:00:00Z", "abc", "corpus")


def test_history_has_mean_and_deviation_of_every_block(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", html="<article><p>one</p><p>two</p><ul><li>x</li></ul></article>")
    report = run(add_page("b"), extractor=echoing)
    row = history_row(report, "now", "")
    counts = [page.structure.paragraphs for page in report.pages]
    assert row["avg_paragraphs"] == f"{sum(counts) / 2:.4f}"
    assert row["std_paragraphs"] == f"{abs(counts[0] - counts[1]) / 2:.4f}"
    assert {name for name in row if name.startswith("std_")} >= {"std_lists", "std_code", "std_captions", "std_tables"}


def test_without_a_folder_nothing_is_written(add_page: AddPage, echoing: Echo, tmp_path: Path) -> None:
    corpus = add_page("a")
    before = sorted(tmp_path.rglob("*"))
    run(corpus, extractor=echoing)
    assert sorted(tmp_path.rglob("*")) == before


def test_without_git_the_commit_is_left_empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_git_sha() == ""
