"""What a run reports of itself when it is over."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from pagekeep.bulk import Counts, Report, report, run
from pagekeep.bulk.progress import Timings
from pagekeep.bulk.row import RowResult
from tests.bulk.making import jsonl, page


def ran(folder: Path) -> Report:
    source = jsonl(folder / "pages.jsonl", [page(number) for number in range(4)])
    source.write_text(source.read_text() + "{broken\n" * 7 + '{"html": "<p>x", "url": "https://example.com/"}\n')
    return run(source, folder / "out", workers=1)


def test_the_report_counts_and_names_where_it_failed(tmp_path: Path) -> None:
    ran(tmp_path)
    reported = json.loads((tmp_path / "out" / "report.json").read_text())
    assert reported["records"] == reported["rows"] == 12
    assert reported["errors"] == {"ParseError": 7}
    assert list(reported["examples"]["ParseError"]) == [f"pages.jsonl:{number}" for number in range(4, 9)]
    assert sum(number for _, number in reported["milliseconds"]["histogram"]) == 5
    assert sum(reported["over_time"]["records"]) == 12
    assert len(reported["milliseconds"]["slowest"]) == 5


def test_the_page_shows_them_and_asks_nothing_of_a_network(tmp_path: Path) -> None:
    done = ran(tmp_path)
    shown = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "pages.jsonl:4" in shown
    assert "The line is not valid JSON" in shown
    assert "Time per page" in shown
    assert not re.search(r"(?:src=|href=|url\(|@import|//)", shown)
    assert "default-src 'none'" in shown
    assert "<main" in done._repr_html_()


def test_what_pages_say_is_not_markup_in_the_report(tmp_path: Path) -> None:
    account = Counts(1, 1, 0, Counter(ParseError=1), languages=Counter({"<script>x": 1}))
    account.examples = {"ParseError": {"<b>place": "<img src=x>"}}
    report.write_report(Report(account), tmp_path)
    shown = (tmp_path / "report.html").read_text("utf-8")
    assert not re.search("<script|<b>|<img", shown)


def test_a_run_without_records_has_a_report(tmp_path: Path) -> None:
    report.write_report(Report(Counts()), tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["records"] == 0


def test_slices_of_time_stay_few_and_lose_nothing() -> None:
    times = Timings()
    for second in range(10_000):
        times.add(float(second), RowResult((), "place", milliseconds=1.0 + second % 7))
    assert len(times.slices) <= 120
    assert sum(times.slices) == 10_000
    assert times.slice_seconds * len(times.slices) >= 10_000


def test_the_slowest_pages_are_named_and_times_are_in_their_class() -> None:
    times = Timings()
    for number in range(1, 1_001):
        times.add(0.0, RowResult((), f"page {number}", milliseconds=float(number)))
    assert sorted(times.slowest) == [(float(number), f"page {number}") for number in range(996, 1_001)]
    assert 500 <= times.quantile(0.5) <= 600
    assert 950 <= times.quantile(0.95) <= 1_150
