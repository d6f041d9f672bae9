from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pagekeep.errors import NotFound, ParseError
from pagekeep.model import Page
from pagekeep_lab import EvaluationReport, find_broken_floors, run


@pytest.fixture
def report(add_page: Callable[..., Path], echoing: Callable[[bytes, str | None], Page]) -> EvaluationReport:
    add_page("a", author=None)
    return run(add_page("b", "one two"), limit=2, extractor=echoing)


@pytest.fixture
def floors(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        (tmp_path / "gate.toml").write_text(text, "utf-8")
        return tmp_path / "gate.toml"

    return write


def test_floors_that_hold_are_silent(report: EvaluationReport, floors: Callable[[str], Path]) -> None:
    assert (
        find_broken_floors(report, floors("title_accuracy = 0.0\nall.f1 = 0.8\n[article]\nf1 = 0.8\nprecision = 1.0\n"))
        == []
    )


def test_broken_floors_are_named_with_both_numbers(report: EvaluationReport, floors: Callable[[str], Path]) -> None:
    broken = find_broken_floors(report, floors("all.f1 = 0.9\narticle.recall = 0.76\n"))
    assert broken == [
        "all.f1: 0.8333 is below the floor 0.9000",
        "article.recall: 0.7500 is below the floor 0.7600",
    ]


def test_a_name_alone_means_all_pages(report: EvaluationReport, floors: Callable[[str], Path]) -> None:
    assert find_broken_floors(report, floors("title_accuracy = 0.5")) == [
        "all.title_accuracy: 0.0000 is below the floor 0.5000"
    ]


def test_a_floor_under_what_was_not_measured_is_broken(
    report: EvaluationReport, floors: Callable[[str], Path], add_page: Callable[..., Path], echoing: Callable[..., Page]
) -> None:
    assert len(find_broken_floors(report, floors("forum.f1 = 0.1"))) == 1
    no_author = run(add_page("b", author=None), extractor=echoing)
    assert len(find_broken_floors(no_author, floors("author_accuracy = 0.0"))) == 1


def test_every_unknown_key_is_named(report: EvaluationReport, floors: Callable[[str], Path]) -> None:
    with pytest.raises(ParseError) as caught:
        find_broken_floors(report, floors("all.f2 = 0.1\nposter.f1 = 0.1\nall.f1 = 0.1\narticle.f1.low = 0.1\n"))
    assert all(key in caught.value.message for key in ("all.f2", "poster.f1", "article.f1.low"))
    assert "all.f1 " not in caught.value.message


@pytest.mark.parametrize("text", ['all.f1 = "high"', "all.f1 = true", "all.f1 = 80", "all.f1 = nan", "all.f1 =", ""])
def test_malformed_gate_files_are_refused(report: EvaluationReport, floors: Callable[[str], Path], text: str) -> None:
    with pytest.raises(ParseError):
        find_broken_floors(report, floors(text))


def test_missing_gate_file_is_not_found(report: EvaluationReport, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find_broken_floors(report, tmp_path / "none.toml")
