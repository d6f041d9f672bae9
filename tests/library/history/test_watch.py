"""Watching a page on a real site: changes are found, noise and a new parser are not. Full counts: `tests/hostile/watch_*.py`."""

from __future__ import annotations

import asyncio

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library import watch
from pagekeep.library.archive.versions import compare_versions, restore_version
from pagekeep.library.queue import SaveRequest
from pagekeep.library.run_jobs import JobRunner
from pagekeep.library.saving.save import save
from pagekeep.model import Change, Item
from pagekeep.store import Store
from tests.hostile import store_places, watch_kill, watch_noise
from tests.library.history.changing_site import ChangingPage
from tests.library.history.conftest import Run
from tests.site.fixtures import WALL, Shore, article

NEWS = "<p>The {} boat leaves the old pier in the evening, when the lamp is lit.</p>"


@pytest.fixture
def item(shore: Shore, any_library: Store, run: Run) -> Item:
    """A watched page."""
    shore.bodies["a"] = article(300, extra=NEWS.format("first"))

    async def one(retrieval: Retrieval) -> Item:
        return (await save(SaveRequest(Request(shore.url("a"), render="never")), any_library, retrieval)).item

    saved = run(one)
    watch.watch(any_library, saved.id)
    return saved


def visit(item: Item, library: Store, run: Run) -> Change | None:
    schedule = library.schedules.get(watch.TASK, item.id)
    assert schedule is not None
    found: Change | None = run(watch.visit, library.items.get(item.id), schedule, library)
    return found


def test_all_true_changes_are_found_among_noise_and_no_others(library: Store, settings: Settings, run: Run) -> None:
    page = ChangingPage(1, visits=60)
    with watch_noise.serving(page) as site:
        changed, found = asyncio.run(watch_noise.visit_all(page, site.url("/page/1"), library, settings, 62))
    assert len(changed) == 12
    assert watch_noise.faults_of(changed, found) == []
    (item_id,) = {change.item_id for change in library.changes.list()}
    assert len(library.snapshots.list(item_id)) == 13
    shown = run(compare_versions, library, item_id)
    assert shown.without_noise
    words = " ".join(part.text for block in shown.diff.blocks for part in block.parts if part.operation != "same")
    assert not [noise for noise in ("Advertisement", "Last updated", "views", "Quote of the day") if noise in words]
    everything = run(compare_versions, library, item_id, everything=True).diff
    assert everything.added > shown.diff.added


def test_killed_workers_miss_and_double_nothing() -> None:
    assert store_places.attack_on("sqlite", watch_kill.attack, 3) == []


def test_in_its_first_visits_a_change_is_believed_when_it_lasts(
    item: Item, shore: Shore, any_library: Store, run: Run
) -> None:
    shore.bodies["a"] = article(300, extra=NEWS.format("second"))
    assert visit(item, any_library, run) is None
    change = visit(item, any_library, run)
    assert change is not None
    assert (change.before, change.after, change.added, change.removed) == (1, 2, 1, 1)
    assert change.excerpt == "second"
    assert "second boat" in any_library.items.get(item.id).content
    assert visit(item, any_library, run) is None
    assert [found.id for found, _ in watch.list_changes(any_library, unseen=True)] == [change.id]
    assert watch.count_unseen(any_library) == watch.mark_seen(any_library) == 1


def test_a_page_that_was_stable_is_believed_at_once(item: Item, shore: Shore, any_library: Store, run: Run) -> None:
    for _ in range(3):
        assert visit(item, any_library, run) is None
    shore.bodies["a"] = article(300, extra=NEWS.format("second"))
    assert visit(item, any_library, run) is not None


def test_visits_are_conditional(item: Item, shore: Shore, any_library: Store, run: Run) -> None:
    shore.etags["a"] = '"1"'
    visit(item, any_library, run)
    asked = len(shore.site.requests)
    visit(item, any_library, run)
    (request,) = shore.site.requests[asked:]
    assert request.headers["if-none-match"] == '"1"'


@pytest.mark.parametrize(("status", "body"), [(503, ""), (200, WALL), (404, "")])
def test_a_visit_that_fails_is_not_a_change_and_the_next_comes_later(
    status: int, body: str, item: Item, shore: Shore, any_library: Store, run: Run
) -> None:
    shore.statuses["a"], shore.bodies["a"] = status, body
    assert visit(item, any_library, run) is None
    (watched,) = watch.watched_pages(any_library)
    assert watched.schedule.attempts == 1
    assert watched.error is not None
    assert any_library.items.get(item.id).content == item.content
    assert len(any_library.snapshots.list(item.id)) == 1


def test_a_version_that_the_user_restored_is_not_taken_for_a_change(
    item: Item, shore: Shore, any_library: Store, run: Run
) -> None:
    for _ in range(3):
        visit(item, any_library, run)
    shore.bodies["a"] = article(300, extra=NEWS.format("second"))
    assert visit(item, any_library, run) is not None
    run(restore_version, any_library, item.id, number=1)
    assert visit(item, any_library, run) is None
    assert "first boat" in any_library.items.get(item.id).content


def test_jobs_visit_due_pages_once_and_leave_nothing_behind(
    item: Item, any_library: Store, settings: Settings, run: Run
) -> None:
    class Kept:
        """The library, which stays open after a job."""

        def __getattr__(self, name: str) -> object:
            return getattr(any_library, name)

        def close(self) -> None:
            pass

    async def work_with(retrieval: Retrieval) -> None:
        runner = JobRunner("me", any_library, lambda _user: Kept(), retrieval, lambda _result: None)  # type: ignore[arg-type,return-value]
        await runner.run(until_empty=True)

    run(work_with)
    schedule = any_library.schedules.get(watch.TASK, item.id)
    assert schedule is not None
    assert schedule.last_run_at is not None
    assert schedule.next_at > schedule.last_run_at
    assert [job for job in any_library.jobs.list() if job.options.get("task") == watch.TASK] == []


def test_a_page_can_be_unwatched_once(item: Item, any_library: Store) -> None:
    assert watch.unwatch(any_library, item.id).id == item.id
    with pytest.raises(NotFound):
        watch.unwatch(any_library, item.id)
    assert watch.watched_pages(any_library) == ()
