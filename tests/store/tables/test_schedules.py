"""Schedules: each due one becomes one job, no matter who asks, and how often."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pagekeep.model import Schedule
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import moment

FAR = "2025-07-01T00:00:00.000000Z"
SEVEN, EIGHT, NINE = (moment(60 * hour) for hour in (7, 8, 9))


def in_an_hour(_schedule: Schedule, _now: str) -> str:
    return EIGHT


def watch(library: Store, number: int = 0, next_at: str = SEVEN) -> Schedule:
    return library.schedules.put("watch", f"item {number}", f"https://example.com/{number}", 3600, next_at, moment(0))


def test_a_schedule_that_is_due_becomes_one_job_and_waits_for_its_next_time(library: Store) -> None:
    schedule = watch(library)
    assert not library.schedules.has_due(moment(60), FAR)
    assert library.schedules.start_due(moment(60), FAR, in_an_hour) == 0
    assert library.schedules.has_due(SEVEN, FAR)
    assert library.schedules.start_due(SEVEN, FAR, in_an_hour) == 1
    assert library.schedules.start_due(SEVEN, FAR, in_an_hour) == 0
    (job,) = library.jobs.list()
    assert job.options == {"task": "watch", "schedule": schedule.id, "subject": "item 0"}
    assert job.url_full == "https://example.com/0"
    assert library.schedules.list("watch")[0].next_at == EIGHT


def test_while_a_job_is_not_done_its_schedule_gets_no_second_one(library: Store) -> None:
    watch(library)
    library.schedules.start_due(SEVEN, FAR, in_an_hour)
    job = library.jobs.lease("me", SEVEN, EIGHT)
    assert job is not None
    assert library.schedules.start_due(EIGHT, FAR, lambda _schedule, _now: NINE) == 0
    assert library.schedules.finish(job.id, "me")
    assert library.jobs.list() == ()
    assert library.schedules.start_due(NINE, FAR, lambda _schedule, _now: FAR) == 1


def test_many_servers_start_each_schedule_once(opened: Opener) -> None:
    library = opened()
    for number in range(20):
        watch(library, number)
    others = [opened() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda store: store.schedules.start_due(SEVEN, FAR, in_an_hour), others))
    while any(started):
        started = [store.schedules.start_due(SEVEN, FAR, in_an_hour) for store in others]
    assert len(library.jobs.list()) == 20


def test_a_worker_starts_the_schedules_of_all_users(opened: Opener) -> None:
    libraries = [opened("ada"), opened("bob")]
    for library in libraries:
        watch(library)
    worker = opened("worker", workers=True)
    assert worker.schedules.has_due(SEVEN, FAR)
    assert worker.schedules.start_due(SEVEN, FAR, in_an_hour) >= 2
    assert [len(library.jobs.list()) for library in libraries] == [1, 1]
    for library in libraries:
        library.schedules.remove("watch", "item 0")
        assert library.jobs.list() == ()


def test_a_time_that_a_wrong_clock_set_does_not_stop_a_schedule(library: Store) -> None:
    watch(library, next_at="2031-01-01T00:00:00.000000Z")
    assert library.schedules.has_due(SEVEN, FAR)
    assert library.schedules.start_due(SEVEN, FAR, in_an_hour) == 1


def test_another_interval_keeps_what_the_schedule_remembers(library: Store) -> None:
    first = watch(library)
    library.schedules.settle(first.id, {"seen": 3}, failed=True, now=SEVEN)
    assert library.schedules.list("watch")[0].attempts == 1
    again = library.schedules.put("watch", "item 0", "https://example.com/0", 60, EIGHT, SEVEN)
    assert (again.id, again.every, again.state, again.attempts) == (first.id, 60, {"seen": 3}, 0)
    library.schedules.settle(first.id, {"seen": 4}, failed=False, now=EIGHT, next_at=NINE)
    found = library.schedules.get("watch", "item 0")
    assert found is not None
    assert (found.state, found.next_at, found.last_run_at) == ({"seen": 4}, NINE, EIGHT)
    assert library.schedules.remove("watch", "item 0")
    assert not library.schedules.remove("watch", "item 0")
