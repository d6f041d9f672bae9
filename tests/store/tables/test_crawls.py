"""The frontier of a crawl: every address once, in the order of discovery, no matter which worker takes it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.model.crawl import Pace, Visit
from pagekeep.store import Store, open_store
from tests.store.conftest import Opener
from tests.store.crawls import HOST, Plain, begin, fill_crawl, step, visited
from tests.store.making import NOW, moment


def test_addresses_are_leased_in_order_and_visited_once(library: Store) -> None:
    crawl = begin(library, "a", "b")
    first = step(library, crawl)
    assert [page.url for page in first.leased] == [f"https://{HOST}/a", f"https://{HOST}/b"]
    assert step(library, crawl, "other").leased == ()
    second = step(library, crawl, visits=[visited(1, "c", "d"), visited(0, "d", "a", "e")])
    # Decided in the order of positions, whichever was visited first.
    assert [page.url[-1] for page in second.leased] == ["d", "e", "c"]
    assert [page.position for page in second.leased] == [2, 3, 4]
    done = step(library, crawl, visits=[visited(number) for number in (2, 3, 4)])
    assert (done.crawl.state, done.crawl.kept, done.crawl.settled) == ("done", 5, 5)
    assert [page.requested[-1] for page in library.crawls.pages(crawl.id, ("kept",))] == ["a", "b", "d", "e", "c"]


def test_a_later_page_waits_for_the_decision_of_an_earlier_one(library: Store) -> None:
    crawl = begin(library, "a", "b")
    step(library, crawl)
    held = step(library, crawl, visits=[visited(1, "c")])
    assert (held.crawl.settled, held.leased) == (0, ())
    both = step(library, crawl, visits=[visited(0, "x")])
    assert [page.url[-1] for page in both.leased] == ["x", "c"]


def test_a_dead_workers_addresses_are_taken_over_when_its_lease_ends(library: Store) -> None:
    crawl = begin(library, "a")
    step(library, crawl, "dead", until=moment(631))
    assert step(library, crawl, now=moment(630)).leased == ()
    taken = step(library, crawl, now=moment(632), until=moment(700))
    assert [page.position for page in taken.leased] == [0]
    # The result of the worker that lost its lease does not count.
    step(library, crawl, "dead", [visited(0, "wrong")])
    ended = step(library, crawl, visits=[visited(0)])
    assert (ended.crawl.state, ended.crawl.admitted) == ("done", 1)


def test_leases_are_extended_and_released(library: Store) -> None:
    crawl = begin(library, "a", "b")
    step(library, crawl, want=2)
    assert library.frontier.workers(crawl.id) == ("me",)
    library.frontier.extend_leases(crawl.id, "me", moment(900))
    assert step(library, crawl, "other", now=moment(800), until=moment(900)).leased == ()
    assert library.frontier.release_leases(crawl.id, ["me"], NOW) == 2
    assert len(step(library, crawl, "other").leased) == 2


def test_a_host_with_a_pause_has_one_visit_at_a_time(library: Store) -> None:
    crawl = begin(library, "a", "b", "c")
    slow = {"policy": Plain(60.0)}
    assert len(step(library, crawl, **slow).leased) == 1
    assert step(library, crawl, "other", **slow).leased == ()
    waiting = step(library, crawl, visits=[visited(0)], **slow)
    assert (waiting.leased, waiting.next_at) == ((), moment(631))
    assert len(step(library, crawl, "other", now=moment(631), **slow).leased) == 1


def test_a_burst_of_requests_to_a_busy_host_slows_it_down_once(library: Store) -> None:
    delays: list[float] = []

    class Doubling(Plain):
        def pace(self, before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
            delays.append(max(1.0, 2 * before.delay))
            return Pace(delays[-1], 0), 5.0

    def busy(position: int) -> Visit:
        return visited(position, busy=5.0, retry_after=5.0)

    crawl, policy, later = begin(library, "one", "two", "three"), Doubling(), moment(660)
    assert len(step(library, crawl).leased) == 3
    step(library, crawl, visits=[busy(0), busy(1)], policy=policy)
    step(library, crawl, visits=[busy(2)], policy=policy)
    assert delays == [1.0]
    (page,) = step(library, crawl, policy=policy, now=later).leased
    step(library, crawl, visits=[busy(page.position)], policy=policy, now=later)
    assert delays == [1.0, 2.0]


def test_a_busy_host_is_left_in_peace_and_its_page_tried_again(library: Store) -> None:
    crawl = begin(library, "a", "b")
    step(library, crawl, want=1)
    busy = visited(0, busy=120.0, retry_after=120.0)
    waiting = step(library, crawl, visits=[busy])
    assert (waiting.leased, waiting.next_at) == ((), moment(632))
    again = step(library, crawl, now=moment(632), until=moment(700))
    assert [(page.position, page.attempts) for page in again.leased] == [(0, 1)]


def test_no_more_is_leased_than_is_needed(library: Store) -> None:
    crawl = begin(library, "a", "b", "c")
    assert len(step(library, crawl, policy=Plain(pages=2)).leased) == 2


def test_many_workers_lease_every_address_once(opened: Opener) -> None:
    library = opened()
    crawl = begin(library, *(f"page-{number}" for number in range(60)))
    stores = [opened() for _ in range(4)]

    def take(number: int) -> list[int]:
        found = [page.position for _ in range(5) for page in step(stores[number], crawl, f"w{number}", want=3).leased]
        step(stores[number], crawl, f"w{number}", [visited(position) for position in found], want=0)
        return found

    with ThreadPoolExecutor(4) as pool:
        taken = [position for found in pool.map(take, range(4)) for position in found]
    assert sorted(taken) == list(range(60))
    while step(library, crawl).crawl.state == "running":
        pass
    assert library.crawls.get(crawl.id).kept == 60


def test_the_next_run_takes_unchanged_pages_over_and_the_one_before_is_dropped(library: Store) -> None:
    crawl = begin(library, "a")
    step(library, crawl)
    step(library, crawl, visits=[visited(0, etag='"1"')])
    again = begin(library, "a")
    assert (again.id, again.run, again.state, again.kept) == (crawl.id, 2, "running", 0)
    (page,) = step(library, again).leased
    assert page.before is not None
    assert (page.before.etag, page.before.made_by) == ('"1"', "test")
    step(library, again, visits=[visited(0, same_as=page.before.position)])
    assert [one.content for one in library.crawls.pages(crawl.id, ("kept",))] == [{"title": "T"}]
    assert library.crawls.remove_earlier_run(crawl.id) == 1
    assert library.crawls.remove_earlier_run(crawl.id) == 0
    raw = library.crawls.raw(crawl.id, 0)
    assert raw is not None
    assert raw.body == b"page 0"
    assert library.check() == []


def test_a_cancelled_crawl_goes_on_and_a_removed_one_leaves_nothing(library: Store) -> None:
    crawl = begin(library, "a", "b")
    step(library, crawl, want=1)
    assert library.crawls.cancel(crawl.id, NOW).state == "cancelled"
    assert step(library, crawl, visits=[visited(0)]).leased == ()
    assert library.crawls.resume(crawl.id, {"pages": 5}, NOW).state == "running"
    assert len(step(library, crawl).leased) == 1
    library.crawls.remove(crawl.id)
    assert library.crawls.list() == ()
    assert step(library, crawl) is None
    assert library.check() == []
    with pytest.raises(NotFound):
        library.crawls.get(crawl.id)


def test_another_user_sees_no_crawl_and_a_worker_sees_those_that_run(opened: Opener) -> None:
    library, other = opened(), opened("other-reader")
    crawl = begin(library, "a")
    assert other.crawls.list() == ()
    with pytest.raises(NotFound):
        other.crawls.cancel(crawl.id, NOW)
    assert step(other, crawl) is None
    assert (library.user_id, crawl.id) in opened("worker-reader", workers=True).crawls.running()
    library.crawls.cancel(crawl.id, NOW)
    assert (library.user_id, crawl.id) not in opened("worker-reader", workers=True).crawls.running()


def test_a_backup_holds_crawls(library: Store, tmp_path: Path) -> None:
    crawl = fill_crawl(library)
    library.backup_folder(tmp_path / "copy", NOW, {})
    from pagekeep.store.backup.backup_folder import read_state

    state = read_state(tmp_path / "copy")
    restored = open_store(tmp_path / "restored.db", library.user_id)
    try:
        restored.restore_folder(tmp_path / "copy", state)
        assert restored.crawls.get(crawl.id) == library.crawls.get(crawl.id)
        assert restored.crawls.pages(crawl.id, ("kept",)) == library.crawls.pages(crawl.id, ("kept",))
        assert restored.check() == []
    finally:
        restored.close()
