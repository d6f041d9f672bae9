"""How a bulk run goes, as it is shown."""

from __future__ import annotations

from collections import Counter

import pytest

from pagekeep.bulk import Progress
from pagekeep.doors.cli import bulk


def at(seconds: float, share: float | None = 0.25, **errors: int) -> Progress:
    return Progress(1_200, 1_200, Counter(errors), share, seconds, 101.4, None if share is None else 3 * seconds)


def test_a_line_shows_share_rate_time_left_and_failures() -> None:
    assert bulk.format_progress(at(60, ParseError=2, TooLarge=1)) == (
        "25 %, 1,200 records, 101 per second, 3 min left; failed: 2 ParseError, 1 TooLarge"
    )
    assert bulk.format_progress(at(60, None)) == "1,200 records, 101 per second"


@pytest.mark.parametrize(("seconds", "said"), [(5, "5 s"), (89, "89 s"), (600, "10 min"), (7_500, "2 h 05 min")])
def test_times_are_said_as_people_do(seconds: float, said: str) -> None:
    assert bulk.format_duration(seconds) == said


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with bulk.lines() as step:
        for tenth in range(1_000):
            step(at(tenth / 10))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert 2 <= len(shown.err.splitlines()) <= 5


def test_the_bar_shows_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    with bulk.bar() as step:
        step(at(60))
        step(at(60, None))
        step(at(60, ParseError=2))
    assert "failed: 2 ParseError" in " ".join(capsys.readouterr().err.split())
