"""Intervals, and when a schedule runs next."""

from __future__ import annotations

import pytest

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.library.queue import JITTER, MAX_INTERVAL, format_interval, next_time, parse_interval
from pagekeep.model import Schedule

NOW = "2025-03-19T10:30:00.000000Z"


@pytest.mark.parametrize(
    ("text", "seconds"), [("5m", 300), ("30min", 1800), ("6h", 21_600), ("1d", 86_400), ("2w", 1_209_600)]
)
def test_intervals_are_read_and_written(text: str, seconds: int) -> None:
    assert parse_interval(text) == seconds
    assert parse_interval(format_interval(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "1", "1s", "4m", "91d", "d", "-1d", "1 year", "1d1h"])
def test_other_intervals_are_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        parse_interval(text)


@pytest.mark.parametrize("attempts", [0, 1, 3, 20])
def test_failures_make_the_next_run_later_up_to_a_limit(attempts: int) -> None:
    schedule = Schedule("id", "ada", "watch", "item", "https://example.com/", 86_400, attempts, NOW, None, NOW, {})
    pause = clock.days_between(NOW, next_time(schedule, NOW)) * 86_400
    wanted = min(86_400 * 2 ** min(attempts, 6), MAX_INTERVAL)
    assert wanted * (1 - JITTER) <= pause <= wanted * (1 + JITTER)
