"""A wait that lasts too long is ended, and no other."""

from __future__ import annotations

import threading

from pagekeep.workers.alarm import Alarm


def test_it_rings_when_a_wait_lasts_too_long_and_again_for_the_next() -> None:
    rung = threading.Semaphore(0)
    alarm = Alarm(0.02, rung.release)
    for _ in range(3):
        alarm.set()
        assert rung.acquire(timeout=20)
    alarm.end()


def test_waits_that_are_over_do_not_ring() -> None:
    rung = threading.Semaphore(0)
    alarm = Alarm(0.05, rung.release)
    for _ in range(100):
        alarm.set()
        alarm.clear()
    assert not rung.acquire(timeout=0.3)
    alarm.end()


def test_a_wait_that_begins_anew_has_its_whole_time_again() -> None:
    rung = threading.Semaphore(0)
    alarm = Alarm(600, rung.release)
    alarm.set()
    alarm.set()
    assert not rung.acquire(timeout=0.1)
    alarm.end()


def test_its_thread_ends_with_it() -> None:
    alarm = Alarm(600, lambda: None)
    before = threading.active_count()
    alarm.set()
    assert threading.active_count() == before + 1
    alarm.end()
    thread = next((one for one in threading.enumerate() if one.name == "pagekeep-alarm"), None)
    if thread:
        thread.join(20)
    assert threading.active_count() == before
