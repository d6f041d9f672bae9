"""Two extractors over the same pages, with what they leave on disk."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from pagekeep.config import Settings
from pagekeep.errors import NotFound, ParseError
from pagekeep_lab import compare as runs
from pagekeep_lab.compare import Extract, compare, compare_markdown, format_comparison, open_extractor, write_report
from pagekeep_lab.evaluation_report import COMMON_COLUMNS
from pagekeep_lab.results import ExtractorResult
from tests.fetch.test_remote_reader import running

SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
PAGE = f"<title>The keeper</title><article><h1>The keeper</h1>{f'<p>{SENTENCE * 3}</p>' * 5}</article>"
PLAIN = Settings()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(6):
        (folder / f"p{number}.html").write_text(PAGE.replace("kettle", f"kettle{number}"))
    return folder


def test_an_extractor_agrees_with_itself(pages: Path) -> None:
    done = compare("pagekeep", "pagekeep", pages, settings=PLAIN)
    assert [pair.name for pair in done.pairs] == [f"p{number}" for number in range(6)]
    assert {(pair.similarity, pair.similarity_exact, pair.words.missing, pair.words.extra) for pair in done.pairs} == {
        (1.0, 1.0, 0, 0)
    }
    assert format_comparison(done)[1][:4] == ["all", "6", "0", "1.000"]


def test_a_limit_takes_pages_from_all_over(pages: Path) -> None:
    assert [pair.name for pair in compare("pagekeep", "pagekeep:bare", pages, settings=PLAIN, limit=2).pairs] == [
        "p0",
        "p3",
    ]


def test_records_have_the_columns_of_old_first_and_grow_by_a_row_a_run(pages: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        compare("pagekeep:bare", "pagekeep", pages, settings=PLAIN, out=out)
    with (out / "history.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert tuple(rows[0])[: len(COMMON_COLUMNS)] == COMMON_COLUMNS
    assert [(row["a"], row["b"], row["ok_count"], row["avg_similarity"]) for row in rows] == [
        ("pagekeep:bare", "pagekeep", "6", "1.0000")
    ] * 2
    with (out / "summary.csv").open() as lines:
        assert [row["name"] for row in csv.DictReader(lines)] == [f"p{number}" for number in range(6)]
    report = (out / "report.html").read_text()
    assert "Similarity over the last 2 runs" in report
    assert "<script" not in report


def test_what_fails_is_counted_and_shown_with_its_like(
    pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def two(name: str, settings: Settings) -> Iterator[Extract]:
        def half(html: bytes, url: str | None) -> ExtractorResult:
            if b"kettle0" in html:
                return ExtractorResult(error="Boom")
            return ExtractorResult(text=SENTENCE * (15 if b"kettle1" in html else 2))

        with open_extractor("pagekeep", settings) as ours:
            yield half if name == "half" else ours

    monkeypatch.setattr(runs, "open_extractor", two)
    done = compare("pagekeep", "half", pages, settings=PLAIN, out=tmp_path)
    assert format_comparison(done)[1][1:3] == ["6", "1"]
    report = (tmp_path / "report.html").read_text()
    assert "<td>B lacks more than half</td><td>4</td>" in report
    assert "<td>B failed</td><td>1</td>" in report


def test_an_older_version_is_run_from_its_commit(pages: Path) -> None:
    try:
        done = compare("git:HEAD", "pagekeep", pages, settings=PLAIN, limit=2)
    except NotFound as error:
        pytest.skip(error.message)
    assert [pair.error for pair in done.pairs] == ["", ""]
    assert done.pairs[0].similarity > 0.9
    assert done.pairs[0].a.title == "The keeper"


def test_other_rules_give_another_reading(pages: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "own.yaml").write_text(
        "- id: own\n  phase: pre\n  trigger: {dom: {any: [article]}}\n  remove: ['p:first-of-type']\n"
    )
    done = compare("pagekeep", f"rules:{rules}", pages, settings=PLAIN, limit=1)
    assert done.pairs[0].words.missing > 50
    assert done.pairs[0].b.structure.paragraphs == done.pairs[0].a.structure.paragraphs - 1


def test_a_remote_reader_is_sent_the_pages(pages: Path) -> None:
    with running() as server:
        done = compare("remote", "pagekeep", pages, settings=Settings(remote_url=server.url), limit=2)
        sent = [form["html"][0] for method, _, _, form in server.asked if method == "POST"]
    assert [pair.error for pair in done.pairs] == ["", ""]
    assert sum("kettle" in html for html in sent) == 2
    assert done.pairs[0].a.title == "The keeper: a log"


@pytest.mark.parametrize(
    "name", ["nonsense", "rules:", "git:", "git:no-such-ref", "git:--all", "rules:/nowhere/at/all"]
)
def test_an_extractor_that_is_not_there_is_reported(pages: Path, name: str) -> None:
    with pytest.raises(NotFound):
        compare(name, "pagekeep", pages, settings=PLAIN)


def test_without_a_reader_nothing_is_sent(pages: Path) -> None:
    with pytest.raises(ParseError, match="`remote_url` is not set"):
        compare("remote", "pagekeep", pages, settings=PLAIN)


def test_a_folder_without_pages_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        compare("pagekeep", "pagekeep", tmp_path, settings=PLAIN)


def test_other_extractors_are_used_where_they_are_installed(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins with the interface of the real ones, on which we do not depend."""
    html = '<p>The keeper counts.</p><ul><li>One</li></ul><a href="https://example.com/">x</a><img src="https://example.com/p.png">'
    document = SimpleNamespace(summary=lambda html_partial: html, title=lambda: "T")
    monkeypatch.setitem(sys.modules, "trafilatura", SimpleNamespace(extract=lambda text, **how: html))  # type: ignore[misc]
    monkeypatch.setitem(sys.modules, "readability", SimpleNamespace(Document=lambda text, url: document))
    for name in ("trafilatura", "readability"):
        (pair,) = compare(name, "pagekeep", pages, settings=PLAIN, limit=1).pairs
        assert (pair.a.error, pair.a.structure.lists, pair.a.links) == ("", 1, ("https://example.com/",))
        assert pair.images.missing == 1


def test_readings_at_hand_make_the_same_report(tmp_path: Path) -> None:
    pair = compare_markdown(
        "https://example.com/a", ("Ships [x](https://a.example) counted", None), ("Ships counted", None)
    )
    failed = compare_markdown("https://example.com/b", ("Ships", None), ("", "FetchTimeout: Too slow."))
    write_report(tmp_path, "compared", ("remote", "local"), [pair, failed])
    assert (pair.links.missing, pair.words.missing) == (1, 1)
    assert "FetchTimeout" in (tmp_path / "report.html").read_text()
