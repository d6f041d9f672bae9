from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from pagekeep.errors import NotFound
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import make_item, moment

URL = "https://example.com/page"


def test_a_job_waits_once_for_a_url(library: Store) -> None:
    job = library.jobs.add(URL, URL + "#top", {"render": "force", "tags": ["x"]}, moment(1))
    assert (job.state, job.attempts, job.url, job.url_full) == ("queued", 0, URL, URL + "#top")
    assert job.options == {"render": "force", "tags": ["x"]}
    assert library.jobs.add(URL, URL, {}, moment(2)) == job
    assert library.jobs.list() == (job,)


def test_a_lease_is_one_workers_until_it_ends(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    leased = library.jobs.lease("a", moment(2), moment(4))
    assert leased == replace(job, state="running", attempts=1, leased_by="a", leased_until=moment(4))
    assert library.jobs.lease("b", moment(3), moment(5)) is None
    taken = library.jobs.lease("b", moment(4), moment(6))
    assert taken is not None
    assert (taken.attempts, taken.leased_by) == (2, "b")
    assert not library.jobs.heartbeat(job.id, "a", moment(9))
    assert not library.jobs.finish(job.id, "a")
    assert not library.jobs.fail(job.id, "a", {}, retry_at=None)
    assert library.jobs.finish(job.id, "b")
    assert [found.state for found in library.jobs.list()] == ["done"]


def test_a_heartbeat_keeps_the_lease(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(2))
    assert library.jobs.heartbeat(job.id, "a", moment(10))
    assert library.jobs.lease("b", moment(9), moment(12)) is None
    assert library.jobs.finish(job.id, "a")


def test_nothing_is_leased_before_its_time_and_the_longest_due_comes_first(library: Store) -> None:
    late = library.jobs.add(URL, URL, {}, moment(5))
    early = library.jobs.add(URL + "/2", URL, {}, moment(3))
    assert library.jobs.lease("a", moment(2), moment(9)) is None
    leased = [library.jobs.lease("a", moment(6), moment(9)) for _ in range(3)]
    assert [job.id if job else None for job in leased] == [early.id, late.id, None]


def test_a_failed_job_comes_back_when_it_is_to(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(2))
    assert library.jobs.fail(job.id, "a", {"type": "FetchTimeout"}, retry_at=moment(7))
    assert library.jobs.lease("a", moment(6), moment(9)) is None
    again = library.jobs.lease("a", moment(7), moment(9))
    assert again is not None
    assert (again.attempts, again.error, again.run_after) == (2, {"type": "FetchTimeout"}, moment(7))


def test_dead_jobs_are_listed_and_can_be_revived(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(2))
    assert library.jobs.fail(job.id, "a", {"type": "InvalidUrl"}, retry_at=None)
    assert library.jobs.lease("a", moment(9), moment(10)) is None
    assert [found.id for found in library.jobs.list("dead")] == [job.id]
    revived = library.jobs.revive(job.id, moment(5))
    assert (revived.state, revived.attempts, revived.run_after) == ("queued", 0, moment(5))
    assert library.jobs.revive(job.id, moment(6)) == revived
    assert library.jobs.lease("a", moment(5), moment(6)) is not None


def test_a_dead_job_can_be_forgotten_and_no_other(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.remove(job.id)
    assert library.jobs.list() == (job,)
    library.jobs.lease("a", moment(1), moment(2))
    library.jobs.fail(job.id, "a", {}, retry_at=None)
    library.jobs.remove(job.id)
    assert library.jobs.list() == ()
    with pytest.raises(NotFound):
        library.jobs.remove(job.id)


def test_a_dead_job_whose_url_waits_again_stays_dead(library: Store) -> None:
    dead = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(2))
    library.jobs.fail(dead.id, "a", {}, retry_at=None)
    waiting = library.jobs.add(URL, URL, {}, moment(3))
    assert waiting.id != dead.id
    assert library.jobs.revive(dead.id, moment(4)) == waiting
    assert [job.id for job in library.jobs.list("dead")] == [dead.id]


def test_workers_lease_the_jobs_of_all_users(opened: Opener) -> None:
    # Long before the jobs of other tests on the same server.
    queued, now, until = (f"1999-01-01T00:00:0{n}.000000Z" for n in (1, 2, 3))
    mine, yours = opened("worker test me"), opened("worker test you")
    jobs = {mine.jobs.add(URL, URL, {}, queued).id, yours.jobs.add(URL, URL, {}, queued).id}
    assert mine.jobs.list()[0].id in jobs
    worker = opened("worker test", workers=True)
    leased = [worker.jobs.lease("w", now, until) for _ in range(3)]
    assert {job.id for job in leased if job} == jobs
    assert mine.jobs.lease("a", now, until) is None
    assert all(worker.jobs.heartbeat(job, "w", moment(5)) and worker.jobs.finish(job, "w") for job in sorted(jobs))
    assert worker.jobs.list() == ()


def test_many_workers_take_each_job_once(library: Store) -> None:
    wanted = {library.jobs.add(f"{URL}/{n}", URL, {}, moment(1)).id for n in range(40)}
    taken: list[str] = []

    def work(name: str) -> None:
        while job := library.jobs.lease(name, moment(2), moment(3)):
            taken.append(job.id)
            library.jobs.finish(job.id, name)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(wanted)
    assert {job.state for job in library.jobs.list()} == {"done"}


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_jobs_are_listed_newest_first(library: Store, limit: int) -> None:
    for n in range(3):
        library.jobs.add(f"{URL}/{n}", URL, {}, moment(n))
    assert [job.url for job in library.jobs.list(limit=limit)] == [f"{URL}/{n}" for n in (2, 1, 0)][: max(1, limit)]


def test_a_job_is_found_by_its_id_and_shows_which_item_came_of_it(library: Store) -> None:
    job = library.jobs.add(URL, URL, {"tags": ["x"]}, moment(1))
    assert library.jobs.get(job.id) == job
    library.jobs.lease("a", moment(1), moment(2))
    assert library.jobs.finish(job.id, "a", "the-item")
    assert library.jobs.get(job.id).options == {"tags": ["x"], "item": "the-item"}
    with pytest.raises(NotFound):
        library.jobs.get("nothing")


def test_jobs_are_counted_by_state(library: Store) -> None:
    for number in range(3):
        library.jobs.add(f"{URL}/{number}", URL, {}, moment(1))
    leased = library.jobs.lease("a", moment(1), moment(2))
    assert leased is not None
    library.jobs.fail(leased.id, "a", {}, retry_at=None)
    library.jobs.lease("a", moment(1), moment(2))
    assert library.jobs.counts() == {"queued": 1, "running": 1, "dead": 1}


def test_a_job_that_got_on_goes_back_behind_the_others_as_if_not_tried(library: Store) -> None:
    job = library.jobs.add("pagekeep:task/1", "pagekeep:task", {"task": "count"}, moment(1))
    other = library.jobs.add(URL, URL, {}, moment(2))
    library.jobs.lease("a", moment(3), moment(9))
    assert not library.jobs.put_back(job.id, "b", {"done": 7}, moment(4))
    assert library.jobs.put_back(job.id, "a", {"done": 7}, moment(4))
    back = library.jobs.get(job.id)
    assert (back.state, back.attempts, back.run_after, back.leased_by) == ("queued", 0, moment(4), None)
    assert back.options == {"task": "count", "so_far": {"done": 7}}
    leased = [library.jobs.lease("a", moment(5), moment(9)) for _ in range(2)]
    assert [one.id for one in leased if one] == [other.id, job.id]
    assert library.jobs.finish(job.id, "a", None, {"counted": 9})
    assert library.jobs.get(job.id).options == {"task": "count", "report": {"counted": 9}}


def test_of_tasks_that_are_not_saves_a_user_has_one_at_a_time(opened: Opener) -> None:
    queued, now, soon, until = (f"1998-01-01T00:00:0{n}.000000Z" for n in (1, 2, 3, 4))
    mine, yours = opened("task test me"), opened("task test you")
    first, second = (mine.jobs.add(f"pagekeep:task/{n}", "pagekeep:task", {}, queued) for n in (1, 2))
    save, theirs = mine.jobs.add(URL, URL, {}, queued), yours.jobs.add("pagekeep:task/1", "pagekeep:task", {}, queued)
    worker = opened("task test", workers=True)

    def leased(moment: str) -> str | None:
        job = worker.jobs.lease("w", moment, until)
        return job.id if job else None

    assert [leased(now) for _ in range(4)] == [first.id, save.id, theirs.id, None]
    assert worker.jobs.finish(first.id, "w")
    assert leased(soon) == second.id
    for job in (second, save, theirs):
        assert worker.jobs.finish(job.id, "w")


def test_a_task_whose_worker_died_is_taken_up_and_blocks_no_other(library: Store) -> None:
    first, second = (library.jobs.add(f"pagekeep:task/{n}", "pagekeep:task", {}, moment(n)) for n in (1, 2))
    library.jobs.lease("a", moment(3), moment(5))
    assert library.jobs.lease("b", moment(4), moment(9)) is None
    again = library.jobs.lease("b", moment(5), moment(9))
    assert again is not None
    assert again.id == second.id  # longest due: the other lease has only just run out
    assert library.jobs.lease("b", moment(6), moment(9)) is None
    library.jobs.finish(second.id, "b")
    taken = library.jobs.lease("b", moment(6), moment(9))
    assert taken is not None
    assert taken.id == first.id


def test_a_stopped_worker_costs_no_attempt(library: Store) -> None:
    job = library.jobs.add(URL, URL, {}, moment(1))
    for minute in range(2, 12):
        leased = library.jobs.lease("a", moment(minute), moment(minute + 2))
        assert leased is not None
        assert leased.attempts == 1
        assert library.jobs.fail(job.id, "a", {"type": "Interrupted"}, retry_at=moment(minute), counts=False)
    assert library.jobs.get(job.id).attempts == 0


def test_leases_and_pauses_of_a_clock_that_was_ahead_are_over(library: Store) -> None:
    ahead = moment(20 * 60)
    leased = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), ahead)
    waiting = library.jobs.add(URL + "/2", URL, {}, ahead)
    limits = {"lease_limit": moment(12), "retry_limit": moment(12 + 360)}
    taken = [library.jobs.lease("b", moment(2), moment(4), **limits) for _ in range(3)]
    assert {job.id for job in taken if job} == {leased.id, waiting.id}
    assert taken[2] is None


def test_a_lease_and_a_pause_within_the_limits_hold(library: Store) -> None:
    library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(3))
    library.jobs.add(URL + "/2", URL, {}, moment(300))
    limits = {"lease_limit": moment(12), "retry_limit": moment(12 + 360)}
    assert library.jobs.lease("b", moment(2), moment(4), **limits) is None


def test_a_task_with_a_lease_of_a_clock_that_was_ahead_is_in_no_other_task_s_way(library: Store) -> None:
    library.jobs.add("pagekeep:one", "pagekeep:one", {}, moment(1))
    library.jobs.lease("a", moment(1), moment(20 * 60))
    other = library.jobs.add("pagekeep:two", "pagekeep:two", {}, moment(1))
    found = library.jobs.lease("b", moment(2), moment(4), lease_limit=moment(12), retry_limit=moment(372))
    assert found is not None
    assert found.id == other.id


def test_waiting_and_wrongly_leased_jobs_can_be_freed(library: Store) -> None:
    wrong = library.jobs.add(URL, URL, {}, moment(1))
    library.jobs.lease("a", moment(1), moment(600))
    right = library.jobs.add(URL + "/2", URL, {}, moment(1))
    library.jobs.lease("b", moment(1), moment(5))
    waiting = library.jobs.add(URL + "/3", URL, {}, moment(500))
    freed = library.jobs.make_due(moment(2), moment(12))
    assert {(job.id, job.state, job.attempts, job.run_after) for job in freed} == {
        (wrong.id, "queued", 0, moment(2)),
        (waiting.id, "queued", 0, moment(2)),
    }
    assert library.jobs.get(right.id).state == "running"
    assert not library.jobs.heartbeat(wrong.id, "a", moment(9))


HELD = "0b6f7a52-3a3c-4d6e-9a53-0d4f0c6a7d11"


def hold(library: Store, job_id: str = HELD) -> bool:
    return library.jobs.hold(job_id, URL, URL, {"tags": ["x"]}, moment(1), moment(4))


def test_a_held_job_is_its_holder_s_until_its_lease_ends(library: Store) -> None:
    assert hold(library)
    assert not hold(library, "1b6f7a52-3a3c-4d6e-9a53-0d4f0c6a7d11")
    assert [(job.id, job.state) for job in library.jobs.list()] == [(HELD, "running")]
    assert library.jobs.lease("a", moment(3), moment(5)) is None
    taken = library.jobs.lease("a", moment(4), moment(6))
    assert taken is not None
    assert (taken.id, taken.options) == (HELD, {"tags": ["x"]})
    library.jobs.remove_held(HELD)
    library.jobs.release_held(HELD, {}, moment(5))
    assert [job.leased_by for job in library.jobs.list()] == ["a"], "the holder has no say any more"


def test_a_held_job_goes_with_its_page_or_to_the_next_worker(library: Store) -> None:
    hold(library)
    library.jobs.remove_held(HELD)
    assert library.jobs.list() == ()
    hold(library)
    library.jobs.release_held(HELD, {"type": "Interrupted"}, moment(2))
    (job,) = library.jobs.list()
    assert (job.state, job.attempts, job.error) == ("queued", 0, {"type": "Interrupted"})
    taken = library.jobs.lease("a", moment(2), moment(3))
    assert taken is not None
    assert taken.id == HELD


def test_a_page_is_added_and_its_held_job_removed_in_one_step(library: Store) -> None:
    hold(library)
    assert library.items.add(make_item(user_id=library.user_id), None, held_job=HELD) is not None
    assert library.jobs.list() == ()
    hold(library)
    assert library.items.add(make_item(user_id=library.user_id), None, held_job=HELD) is None
    assert len(library.jobs.list()) == 1


def test_a_held_job_that_another_caller_asks_for_is_run_by_the_queue(library: Store) -> None:
    """Its holder would remove it, and the caller would ask for the end of a job that is not there."""
    hold(library)
    job = library.jobs.add(URL, URL, {"tags": ["y"]}, moment(2))
    assert (job.id, job.state, job.options) == (HELD, "queued", {"tags": ["y"]})
    library.jobs.remove_held(HELD)
    assert library.jobs.get(HELD).state == "queued"
