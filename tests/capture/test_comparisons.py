"""The log of comparisons: what is measured, and how it is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import extract
from pagekeep.capture.modes import compare, comparison_summary, latest_comparisons, log_comparison, log_path, read_log
from pagekeep.config import Settings
from pagekeep.errors import FetchTimeout, NotFound
from tests.site.fixtures import article

PAGE = extract(article(300), "https://example.com/a")


def test_two_equal_readings_agree_in_everything() -> None:
    reported = compare("https://example.com/a", PAGE, PAGE)
    assert (reported.similarity, reported.coverage_words, reported.missing_words, reported.extra_words) == (
        1.0,
        1.0,
        0,
        0,
    )


def test_the_log_gives_back_what_was_noted_and_survives_a_cut_line(tmp_path: Path) -> None:
    settings = Settings(library=str(tmp_path / "new" / "library.db"))
    first = compare("https://example.com/a", PAGE, FetchTimeout("Too slow."))
    second = compare("https://example.com/b", PAGE, PAGE)
    log_comparison(settings, first)
    with log_path(settings).open("a") as log:
        log.write('{"at": "2025\n')
    log_comparison(settings, second)
    assert list(read_log(log_path(settings))) == [first, second]


def test_of_a_page_that_was_compared_twice_the_last_counts() -> None:
    old, new = (
        compare("https://example.com/a", PAGE, FetchTimeout("Too slow.")),
        compare("https://example.com/a", PAGE, PAGE),
    )
    assert latest_comparisons(iter([old, new])) == [new]


def test_the_summary_shows_means_deviations_and_sums() -> None:
    whole = compare("https://example.com/a", PAGE, PAGE)
    reported = comparison_summary(
        [replace(whole, similarity=1.0, missing_words=3), replace(whole, similarity=0.5, missing_words=4)]
    )
    assert (reported["similarity"], reported["std_similarity"], reported["missing_words"]) == (0.75, 0.25, 7)
    assert comparison_summary([])["similarity"] is None


def test_without_a_log_it_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Nothing has been compared"):
        list(read_log(tmp_path / "none"))
