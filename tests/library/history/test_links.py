"""Dead links: pages that have gone are kept apart from those that block us, after several checks over days."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, FetchNetworkError, FetchTimeout
from pagekeep.library.archive import dead_links
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.model import Item
from pagekeep.store import Store, parse_query
from tests.library.history.conftest import Run
from tests.site.fixtures import WALL, Shore, article
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

SOFT_404 = (
    "<title>Page not found</title><body><h1>404</h1><p>Sorry, the page you are looking for could not be found.</p>"
)
Later = Callable[[float], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Moves the clock by days."""
    now, moved = clock.now, [0.0]
    monkeypatch.setattr(clock, "now", lambda: clock.add_seconds(now(), moved[0] * 86_400))

    def move(days: float) -> None:
        moved[0] += days

    return move


def keep(shore: Shore, library: Store, run: Run, name: str = "a") -> Item:
    shore.bodies[name] = article(300)

    async def one(retrieval: Retrieval) -> Item:
        return (await save(SaveRequest(Request(shore.url(name), render="never")), library, retrieval)).item

    return run(one)


def check(item: Item, library: Store, run: Run, **how: Any) -> Item:
    return run(dead_links.check_one, library.items.get(item.id), library, **how).item


def gone(library: Store) -> list[str]:
    return [item.id for item in library.search.find(parse_query("is:gone")).items]


@pytest.mark.parametrize(("status", "body"), [(404, "gone"), (410, ""), (200, SOFT_404)])
def test_a_page_has_gone_after_three_failures_over_days(
    status: int, body: str, any_library: Store, shore: Shore, run: Run, later: Later
) -> None:
    item = keep(shore, any_library, run)
    shore.statuses["a"], shore.bodies["a"] = status, body
    for _ in range(4):  # many failures in one day are one bad day
        assert check(item, any_library, run).metadata.link is None
    later(2.1)
    link = check(item, any_library, run).metadata.link
    assert link is not None
    assert (link["state"], link["archived"]) == ("gone", None)
    assert gone(any_library) == [item.id]
    assert any_library.items.get(item.id).content == item.content


def test_a_page_that_works_again_has_not_gone(any_library: Store, shore: Shore, run: Run, later: Later) -> None:
    item = keep(shore, any_library, run)
    shore.statuses["a"] = 404
    for _ in range(3):
        check(item, any_library, run)
        later(1.1)
    assert gone(any_library) == [item.id]
    del shore.statuses["a"]
    assert check(item, any_library, run).metadata.link is None
    assert gone(any_library) == []


@pytest.mark.parametrize(("status", "body"), [(403, "No."), (429, ""), (503, ""), (200, WALL)])
def test_a_site_that_blocks_us_has_not_gone(
    status: int, body: str, library: Store, shore: Shore, run: Run, later: Later, settings: Settings
) -> None:
    item = keep(shore, library, run)
    shore.statuses["a"], shore.bodies["a"] = status, body
    for _ in range(4):
        link = check(item, library, run, own=replace(settings, retries=0)).metadata.link
        later(1.1)
    assert link is not None
    assert link["state"] == "blocked"
    assert gone(library) == []


def test_no_answer_says_nothing_but_a_host_that_does_not_exist_is_gone() -> None:
    unknown = FetchNetworkError("The host was not found.")
    unknown.unknown_host = True
    states = [
        dead_links.classify(error).state
        for error in (FetchTimeout("Late."), FetchNetworkError("Reset."), unknown, FetchHttpError("No.", status=451))
    ]
    assert states == ["unreachable", "unreachable", "gone", "blocked"]


def test_while_this_machine_is_offline_nothing_is_noted(
    library: Store, shore: Shore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [keep(shore, library, run, name) for name in ("a", "b")]
    library._engine.write(lambda tx: tx.run("UPDATE items SET domain = 'b.example' WHERE url LIKE '%/b'"))

    async def offline(*_: object) -> dead_links.Finding:
        return dead_links.Finding("gone", "The host was not found.", answered=False)

    monkeypatch.setattr(dead_links, "_request", offline)
    found: list[dead_links.LinkResult] = []
    run(lambda retrieval: dead_links.check_links([item.id for item in items], library, retrieval, found.append))
    assert found == []
    assert all(library.changes.get_check(item.id) is None for item in items)


def test_only_pages_that_are_due_are_checked_and_again_after_their_time(
    library: Store, shore: Shore, run: Run, later: Later
) -> None:
    item = keep(shore, library, run)
    due = lambda: run(lambda retrieval: asyncio.to_thread(dead_links.due_keys, library, retrieval))  # noqa: E731
    assert due() == ()
    later(31)
    assert due() == (item.id,)
    check(item, library, run)
    assert due() == ()
    shore.statuses["a"] = 404
    later(31)
    check(item, library, run)
    later(1.1)  # a failure is looked at again soon
    assert due() == (item.id,)


def test_a_new_page_has_its_address_checked_from_then_on(any_library: Store, shore: Shore, run: Run) -> None:
    keep(shore, any_library, run)
    (schedule,) = any_library.schedules.list(dead_links.TASK)
    assert schedule.subject == ""


class Archive:
    """A web archive that has a copy of everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def available(self, request: SiteRequest, reply: Reply) -> None:
        self.asked.append(request.target)
        copy = {"available": True, "url": f"https://archive.example/web/{request.query.get('url')}"}
        await reply.send(json.dumps({"archived_snapshots": {"closest": copy}}), content_type="application/json")

    async def gate(self, request: SiteRequest, reply: Reply) -> None:
        self.asked.append(request.target)
        await reply.send("", status=302, location="/memento/copy")

    async def memento(self, request: SiteRequest, reply: Reply) -> None:
        await reply.send("<p>A copy</p>", memento_datetime="Thu, 31 May 2007 20:35:00 GMT")


@pytest.mark.parametrize("service", ["/available/x", "/gate/"])
def test_a_copy_in_an_archive_is_looked_up_only_if_switched_on(
    service: str, library: Store, shore: Shore, run: Run, later: Later, settings: Settings
) -> None:
    archive = Archive()
    item = keep(shore, library, run)
    shore.statuses["a"] = 410
    routes = {"available": archive.available, "gate": archive.gate, "memento": archive.memento}
    with Site(routes) as site:
        own = replace(settings, archive_service=site.url(service))
        for _ in range(3):
            check(item, library, run, own=own)
            later(1.1)
        assert gone(library) == [item.id]
        assert archive.asked == []
        link = check(item, library, run, own=replace(own, archive_lookup=True)).metadata.link
    assert link is not None
    assert str(link["archived"]).startswith(("https://archive.example/web/", site.url("/memento/copy")))
    assert len(archive.asked) == 1


def test_an_address_is_sent_to_an_archive_only_if_switched_on(
    library: Store, shore: Shore, run: Run, settings: Settings
) -> None:
    archive = Archive()
    item = keep(shore, library, run)
    assert [job for job in library.jobs.list() if job.options.get("task") == dead_links.SUBMIT_TASK] == []
    with Site({"memento": archive.memento, "gate": archive.gate}) as site:
        own = replace(settings, archive_submit=True, archive_submit_service=site.url("/gate/"))
        dead_links.enqueue_submission(library, item, clock.now())
        (job,) = [job for job in library.jobs.list() if job.options.get("task") == dead_links.SUBMIT_TASK]
        send = lambda retrieval: dead_links.submit_job(job, library, retrieval, lambda _: None)  # noqa: E731
        assert run(send).report == {"submitted": 0}
        assert archive.asked == []
        assert run(send, own=own).report == {"submitted": 1}
    assert item.url_full in archive.asked[0]
