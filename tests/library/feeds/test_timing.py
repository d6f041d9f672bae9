"""When feeds are polled: by their own rhythm, what servers say, and failures."""

from __future__ import annotations

import pytest

from pagekeep import clock
from pagekeep.library.feeds import poll

NOW = "2025-03-19T10:30:00.000000Z"
DAY = 86_400.0


def seconds(time: str) -> float:
    return clock.days_between(NOW, time) * DAY


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ([], DAY),
        ([30], DAY),
        ([1, 2, 3, 4], DAY),
        ([0.1] * 14, DAY / 2),
        ([0.1] * 5_000, poll.MIN_SECONDS),
        ([-3], DAY),
    ],
)
def test_a_feed_is_polled_as_often_as_it_has_entries(ages: list[float], expected: float) -> None:
    assert poll.seconds_between([clock.add_seconds(NOW, -age * DAY) for age in ages], NOW) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 0.0),
        ({"cache-control": "public, max-age=7200"}, 7200.0),
        ({"cache-control": "s-maxage=99"}, 0.0),
        ({"cache-control": "no-cache"}, 0.0),
        ({"cache-control": "max-age=999999999"}, poll.MAX_HINT_SECONDS),
        ({"expires": "Wed, 19 Mar 2025 12:30:00 GMT"}, 7200.0),
        ({"expires": "Wed, 19 Mar 2025 12:30:00 GMT", "cache-control": "no-cache"}, 0.0),
        ({"expires": "Wed, 19 Mar 2025 12:30:00 GMT", "cache-control": "max-age=60"}, 60.0),
        ({"expires": "0"}, 0.0),
        ({"expires": "Mon, 19 Mar 2001 12:30:00 GMT"}, 0.0),
    ],
)
def test_what_a_server_says_about_freshness(headers: dict[str, str], expected: float) -> None:
    assert poll.server_seconds(headers, NOW) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        ("Wed, 19 Mar 2025 11:30:00 GMT", 3600.0),
        ("", 0.0),
        ("soon", 0.0),
        ("9" * 20, poll.MAX_HINT_SECONDS),
    ],
)
def test_retry_after_in_either_form(value: str, expected: float) -> None:
    assert poll.retry_seconds({"retry-after": value}, NOW) == pytest.approx(expected)


def test_the_longest_interval_counts_and_is_spread() -> None:
    found = [seconds(poll.after_success(3_600.0, (7_200.0, 0.0), NOW)) for _ in range(50)]
    assert all(6_480 <= one <= 7_920 for one in found)
    assert len(set(found)) > 10


def test_pauses_after_failures_double_up_to_a_limit() -> None:
    found = [seconds(poll.after_failure(1_800.0, attempts, 0.0, NOW)) / 3_600 for attempts in range(1, 30)]
    assert 0.9 <= found[0] <= 1.1
    assert 1.8 <= found[1] <= 2.2
    assert max(found) <= 24 * 7 * 1.1
    assert seconds(poll.after_failure(1_800.0, 1, 9_000.0, NOW)) >= 8_999
