"""The settle rule, on readings alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from pagekeep.fetch.browser import requests as settle
from pagekeep.fetch.browser.requests import ENOUGH_TEXT, Settling, Traffic

STEP = 0.05
MANY = ENOUGH_TEXT * 4


def settles_at(
    length: Callable[[float], int], traffic: Traffic | None = None, *, named: bool = False, until: float = 30.0
) -> float | None:
    """The first look at which a page with this length over time has settled."""
    settling = Settling(0.0, traffic or Traffic(), selector_matched=named)
    for look in range(int(until / STEP)):
        if settling.is_settled(look * STEP, length(look * STEP)):
            return look * STEP
    return None


def steps(*changes: tuple[float, int]) -> Callable[[float], int]:
    """A length that jumps at the given times."""
    return lambda now: max((change for change in changes if change[0] <= now), default=(0.0, 0))[1]


def opened(requests: Iterable[tuple[str, str]]) -> Traffic:
    traffic = Traffic()
    for number, (kind, place) in enumerate(requests):
        traffic.add(number, kind, place, 0.0)
    return traffic


def test_a_page_with_text_settles_after_a_short_quiet() -> None:
    assert settles_at(steps((0, MANY))) == pytest.approx(settle.QUIET_SECONDS)


def test_growth_starts_the_quiet_again() -> None:
    assert settles_at(steps((0, MANY), (0.1, MANY * 2), (0.2, MANY * 3))) == pytest.approx(0.2 + settle.QUIET_SECONDS)


def test_shrinking_counts_as_change_too() -> None:
    assert settles_at(steps((0, MANY * 2), (0.1, MANY))) == pytest.approx(0.1 + settle.QUIET_SECONDS)


def test_a_page_with_little_text_is_given_longer() -> None:
    assert settles_at(steps((0, 20))) == pytest.approx(settle.QUIET_SECONDS_LITTLE_TEXT)
    assert settles_at(steps((0, 20), (0.4, MANY))) == pytest.approx(0.4 + settle.QUIET_SECONDS)


def test_a_clock_on_a_long_page_does_not_keep_it_from_settling() -> None:
    assert settles_at(lambda now: MANY + round(now / STEP) % 2 * 3) == pytest.approx(settle.QUIET_SECONDS)


def test_content_that_was_named_settles_soonest() -> None:
    assert settles_at(steps((0, 20)), named=True) == pytest.approx(STEP)


@pytest.mark.parametrize("kind", ["document", "script", "fetch", "xhr"])
def test_a_young_request_is_waited_for(kind: str) -> None:
    found = settles_at(steps((0, MANY)), opened([(kind, "GET /api")]))
    assert found == pytest.approx(settle.MAX_REQUEST_AGE)


@pytest.mark.parametrize("kind", ["websocket", "eventsource", "ping", "image", "stylesheet", "font", "media", "other"])
def test_what_brings_no_text_is_not_waited_for(kind: str) -> None:
    assert settles_at(steps((0, MANY)), opened([(kind, "GET /api")])) == pytest.approx(settle.QUIET_SECONDS)


def test_a_page_with_little_text_waits_for_its_request_as_long_as_it_takes() -> None:
    assert settles_at(steps((0, 10)), opened([("fetch", "GET /api")])) is None


def test_an_answered_request_is_not_waited_for() -> None:
    traffic = opened([("fetch", "GET /api")])
    traffic.remove(0)
    traffic.remove("never seen")
    assert settles_at(steps((0, MANY)), traffic) == pytest.approx(settle.QUIET_SECONDS)


def test_a_request_that_begins_long_after_the_last_growth_is_not_waited_for() -> None:
    traffic = Traffic()
    settling = Settling(0.0, traffic)
    assert not settling.is_settled(0.0, MANY)
    traffic.add("poll", "fetch", "GET /poll", settle.MAX_REQUEST_DELAY + 0.5)
    assert settling.is_settled(settle.MAX_REQUEST_DELAY + 0.6, MANY)


def test_a_place_that_is_polled_in_vain_is_no_longer_waited_for() -> None:
    traffic = Traffic()
    settling = Settling(0.0, traffic)
    assert not settling.is_settled(0.0, 10)
    for number in range(settle.POLL_REPEATS):
        traffic.add(number, "fetch", f"GET /poll?{number}", 0.1)
        traffic.remove(number)
    traffic.add("next", "fetch", "GET /poll?next", 0.2)
    assert settling.is_settled(settle.QUIET_SECONDS_LITTLE_TEXT, 10)


def test_repeats_that_bring_text_are_still_waited_for() -> None:
    traffic = Traffic()
    settling = Settling(0.0, traffic)
    for number in range(settle.POLL_REPEATS * 2):
        assert not settling.is_settled(number * 0.01, MANY * (number + 1))
        traffic.add(number, "fetch", "POST /graphql", number * 0.01)
        traffic.remove(number)
    traffic.add("next", "fetch", "POST /graphql", 0.1)
    assert not settling.is_settled(0.1, MANY * 20)
    assert not settling.is_settled(0.1 + settle.QUIET_SECONDS * 2, MANY * 20)


def test_a_page_that_grows_without_end_is_cut_off() -> None:
    found = settles_at(lambda now: int(MANY * (1 + now * 10)))
    assert found == pytest.approx(settle.MAX_GROWTH_SECONDS)


def test_a_page_without_text_that_asks_for_nothing_settles_too() -> None:
    assert settles_at(steps((0, 0))) == pytest.approx(settle.QUIET_SECONDS_LITTLE_TEXT)
