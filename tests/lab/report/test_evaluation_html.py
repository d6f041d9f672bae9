from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pagekeep import dom
from pagekeep.model import Page
from pagekeep_lab import run
from pagekeep_lab.evaluation_report import confusion_rows, render_html

AddPage = Callable[..., Path]
Echo = Callable[[bytes, str | None], Page]


def test_report_shows_gold_and_result_with_the_differences_marked(add_page: AddPage, echoing: Echo) -> None:
    report = run(add_page("a", "one two five", text="one two three"), extractor=echoing)
    root = dom.parse(render_html(report, []))
    gold, result = dom.select(root, "details pre")
    assert [dom.text_of(mark) for mark in dom.select(gold, "mark.missing")] == ["three"]
    assert [dom.text_of(mark) for mark in dom.select(result, "mark.extra")] == ["five"]
    assert (dom.text_of(gold), dom.text_of(result)) == ("one two three", "one two five")


def test_report_asks_for_nothing_else(add_page: AddPage, echoing: Echo) -> None:
    hostile = '<script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>'
    corpus = add_page("a", hostile, text=hostile, url="https://example.com/<b>", title=hostile)
    root = dom.parse(render_html(run(corpus, extractor=echoing), []))
    assert dom.select(root, "script, img, link, iframe, object, embed, base, [src], [href], [onerror]") == []


def test_report_draws_kinds_histogram_and_the_trend_of_comparable_runs(add_page: AddPage, echoing: Echo) -> None:
    report = run(add_page("a"), extractor=echoing)
    runs = [
        {"run_at": "2025-01-01", "corpus": "corpus", "ok_count": "1", "error_count": "0", "f1_all": "0.5"},
        {"run_at": "2025-01-02", "corpus": "another", "ok_count": "1", "error_count": "0", "f1_all": "0.1"},
        {"run_at": "2025-01-03", "corpus": "corpus", "ok_count": "40", "error_count": "1", "f1_all": "0.9"},
        {"run_at": "2025-01-04", "corpus": "corpus", "ok_count": "0", "error_count": "1", "f1_all": "0.7"},
    ]
    root = dom.parse(render_html(report, runs))
    assert [svg.attr("aria-label") for svg in dom.select(root, "svg")] == [
        "F1 by kind",
        "Pages by F1",
        "F1 over the runs",
    ]
    assert [dom.text_of(dot).strip() for dot in dom.select(root, "circle")] == [
        "2025-01-01: 0.5000",
        "2025-01-04: 0.7000",
    ]


def test_first_run_has_no_trend(add_page: AddPage, echoing: Echo) -> None:
    report = run(add_page("a"), extractor=echoing)
    page = render_html(
        report, [{"run_at": "2025-01-01", "git_sha": "abc", "corpus": "corpus", "ok_count": "1", "f1_all": "0.5"}]
    )
    assert "over the last" not in page
    assert "2025-01-01 at abc" in page


def test_failed_pages_name_their_error(add_page: AddPage, echoing: Echo) -> None:
    assert "ZeroDivisionError" in render_html(run(add_page("a", "boom"), extractor=echoing), [])


def test_lone_surrogates_and_nulls_can_be_written(
    add_page: AddPage, make_page: Callable[..., Page], tmp_path: Path
) -> None:
    run(add_page("a"), out=tmp_path, extractor=lambda html, url: make_page("a\ud800b\x00c"))
    assert re.search(r"a.*b", (tmp_path / "report.html").read_text("utf-8"))


def test_report_shows_what_each_kind_was_taken_for(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", kind="forum")
    report = run(add_page("b", kind="article"), extractor=echoing)
    head, *rows = confusion_rows(report)
    taken = {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
    assert taken["article"]["article"] == "1"
    assert taken["article"]["right"] == "1.000"
    assert (taken["forum"]["article"], taken["forum"]["forum"], taken["forum"]["right"]) == ("1", "0", "0.000")
    assert "reference (rows) and detected (columns)" in render_html(report, [])
