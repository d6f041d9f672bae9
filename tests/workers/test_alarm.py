"""A wait that lasts too long is ended, and no other."""

from __future__ import annotations

import threading

import pytest

from pagekeep.workers.worker import Alarm


def test_it_rings_when_a_wait_lasts_too_long_and_again_for_the_next() -> None:
    rung = threading.Semaphore(0)
    alarm = Alarm(0.02, rung.release)
    for _ in range(3):
        alarm.set()
        assert rung.acquire(timeout=20)
    alarm.end()


class Clock:
    """Shows the time it is given."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.shows = 0.0
        patch.setattr("pagekeep.workers.worker.monotonic", lambda: self.shows)


def test_waits_that_are_over_do_not_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, rung = Clock(monkeypatch), threading.Semaphore(0)
    alarm = Alarm(0.05, rung.release)
    for _ in range(100):
        alarm.set()
        alarm.clear()
    clock.shows = 10
    assert not rung.acquire(timeout=0.3)
    alarm.end()


def test_a_wait_that_begins_again_has_its_whole_time_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, rung = Clock(monkeypatch), threading.Semaphore(0)
    alarm = Alarm(0.05, rung.release)
    alarm.set()
    clock.shows = 0.04
    alarm.set()
    clock.shows = 0.07
    assert not rung.acquire(timeout=0.3)
    clock.shows = 0.1
    assert rung.acquire(timeout=20)
    alarm.end()


def test_its_thread_ends_with_it() -> None:
    def alarms() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "pagekeep-alarm"]

    before = alarms()
    alarm = Alarm(600, lambda: None)
    alarm.set()
    (thread,) = (one for one in alarms() if one not in before)
    alarm.end()
    assert not thread.is_alive()
