"""The pace of a host: slower when it is busy, faster again when it no longer is."""

from __future__ import annotations

from itertools import pairwise

from pagekeep.library.crawl.settle import GOOD_RESPONSES, MIN_BUSY_DELAY, pace_after
from pagekeep.model.crawl import Pace, Visit


def visit(busy: float | None = None, seconds: float = 0.1) -> Visit:
    return Visit(0, "example.org", "kept", busy=busy, seconds=seconds)


def test_a_host_without_a_pause_stays_so_until_it_is_busy() -> None:
    assert pace_after(Pace(0.0, 0), 0.0, visit()) == (Pace(0.0, 1), 0.0)
    assert pace_after(Pace(0.0, 5), 0.0, visit(busy=3.0)) == (Pace(1.0, 0), 3.0)
    assert pace_after(Pace(1.0, 0), 0.0, visit(busy=0.0)) == (Pace(2.0, 0), 2.0)


def test_good_responses_halve_the_pause_step_by_step() -> None:
    pace, pauses = Pace(1.0, 0), []
    for _ in range(8 * GOOD_RESPONSES):
        pace, pause = pace_after(pace, 0.0, visit(seconds=0.0))
        pauses.append(pause)
    assert pauses == sorted(pauses, reverse=True)
    assert pauses[-1] == MIN_BUSY_DELAY
    assert max(one / other for one, other in pairwise(pauses)) == 2


def test_a_slow_host_is_left_in_peace_for_as_long_as_it_took() -> None:
    assert pace_after(Pace(0.0, 0), 0.5, visit(seconds=4.0))[1] == 4.0
    assert pace_after(Pace(0.0, 0), 0.5, visit(seconds=99.0))[1] == 10.0
