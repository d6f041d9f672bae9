"""Workers that watch pages are killed at random points: no change is missed or stored twice, and no version is without its change (K3).

`python -m tests.hostile.watch_kill [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from contextlib import closing
from dataclasses import dataclass, field

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.library import watch
from pagekeep.library.queue import SaveRequest
from pagekeep.library.run_jobs import JobRunner
from pagekeep.library.saving.save import save
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, kill, library_faults, run_script, start
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

PAGES = 5
WORKERS = 2
LEASE_SECONDS = 0.4
SETTLE_ROUNDS = 5
"""Rounds without kills at the end: a change beside noise, or in the first visits, is believed at the visit after."""


def state_word(number: int) -> str:
    """A word for each version; not a number, which could be a counter."""
    return "state" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


@dataclass
class Pages:
    """A site whose pages have versions, and an advertisement that differs at each request."""

    versions: list[int] = field(default_factory=lambda: [0] * PAGES)
    requests: int = 0

    async def show(self, request: SiteRequest, reply: Reply) -> None:
        number = int(request.path.rpartition("/")[2])
        self.requests += 1
        sentence = "The keeper of the lamp writes down the ships that pass, the weather and the hour of each of them."
        body = "".join(f"<p>{sentence} Line {line} of page {number}.</p>" for line in range(8))
        news = f"<p>The news of today is {state_word(self.versions[number])}, as the keeper has heard it from the boats.</p>"
        noise = f"<p>Advertisement {uuid.uuid4().hex} for lamps.</p>"
        title = f"Page {number}"
        await reply.send(f"<title>{title}</title><article><h1>{title}</h1>{news}{body}{noise}</article>")


def settings(where: str) -> Settings:
    return Settings(
        library=where, user=USER, allow_hosts=("127.0.0.1",), per_host_delay=0.0, render="never", check_links_days=0,
        keep_versions=0, keep_pictures="none",
    )  # fmt: skip


def _work(where: str) -> None:
    """Run jobs until killed."""
    watch.CONFIRM_SECONDS = 0.0  # type: ignore[misc]

    async def run() -> None:
        own = settings(where)
        with closing(open_store(where, USER)) as queue:
            async with Retrieval(own, Rulebook(())) as retrieval:
                runner = JobRunner(
                    name=uuid.uuid4().hex,
                    queue=queue,
                    open_library=lambda user: open_store(where, user),
                    retrieval=retrieval,
                    report=lambda _result: None,
                    lease_seconds=LEASE_SECONDS,
                    poll_seconds=0.02,
                )
                await runner.run(at_a_time=3)

    asyncio.run(run())


def _make_due(library: Store) -> None:
    for schedule in library.schedules.list(watch.TASK):
        library.schedules.put(watch.TASK, schedule.subject, schedule.address, 3600, clock.now(), clock.now())


def _round(where: str, seconds: float | None) -> None:
    """Make all schedules due, and run workers for this long, or until nothing is left to do."""
    with closing(open_store(where, USER)) as library:
        _make_due(library)
    workers = [start(_work, where) for _ in range(WORKERS)]
    if seconds is not None:
        time.sleep(seconds)
    else:
        until = time.monotonic() + 60
        while time.monotonic() < until and not _is_idle(where):
            time.sleep(0.1)
    for worker in workers:
        kill(worker)


def _is_idle(where: str) -> bool:
    now = clock.now()
    with closing(open_store(where, USER)) as library:
        if library.schedules.has_due(
            now, clock.add_seconds(now, 1e8)
        ):  # first: then a schedule that was started has its job
            return False
        return not [job for job in library.jobs.list() if job.state in ("queued", "running")]


def attack(where: str, count: int) -> list[str]:
    """Kill the workers this many times; what is wrong then."""
    pages, chance = Pages(), random.Random(5)
    with Site({"page": pages.show}) as site:
        with closing(open_store(where, USER)) as library:
            ids = asyncio.run(_save_all(site, library, where))
        for _ in range(VISITS_BEFORE):
            _round(where, None)
        for number in range(count):
            _change(pages, number % PAGES, ids, where)
            _round(where, chance.uniform(0.15, 0.6))
        for _ in range(SETTLE_ROUNDS):
            time.sleep(2 * LEASE_SECONDS)
            _round(where, None)
    with closing(open_store(where, USER)) as library:
        faults = [
            fault
            for number, item_id in enumerate(ids)
            for fault in _faults(library, item_id, pages.versions[number], should_change=number < count)
        ]
        stuck = [job.id for job in library.jobs.list() if job.state != "done"]
        faults += [f"{len(stuck)} jobs are left"] if stuck else []
        if len(library.schedules.list(watch.TASK)) != PAGES:
            faults.append("a schedule is lost or doubled")
    return faults + library_faults(where)


def _change(pages: Pages, number: int, ids: list[str], where: str) -> None:
    """Change a page whose last change is stored: one that has other words at each visit that is not killed is noise."""
    with closing(open_store(where, USER)) as library:
        if state_word(pages.versions[number]) in library.items.get(ids[number]).content:
            pages.versions[number] += 1


VISITS_BEFORE = 4
"""Visits after which a change is believed at once."""


async def _save_all(site: Site, library: Store, where: str) -> list[str]:
    ids = []
    async with Retrieval(settings(where), Rulebook(())) as retrieval:
        for number in range(PAGES):
            saved = await save(SaveRequest(Request(site.url(f"/page/{number}"))), library, retrieval)
            watch.watch(library, saved.item.id)
            ids.append(saved.item.id)
    return ids


def _faults(library: Store, item_id: str, live: int, *, should_change: bool) -> list[str]:
    versions, changes = (
        library.snapshots.list(item_id),
        sorted(library.changes.list(item_id=item_id), key=lambda one: one.after),
    )
    faults = []
    if should_change and live < 1:
        faults.append(f"the page of {item_id} never changed")
    if state_word(live) not in library.items.get(item_id).content:
        faults.append(f"the last change of {item_id} was missed")
    if [change.after for change in changes] != [version.number for version in versions[1:]]:
        faults.append(f"versions and changes of {item_id} do not belong together")
    if any(change.before != change.after - 1 for change in changes):
        faults.append(f"a change of {item_id} does not follow the one before")
    bodies = [library.snapshots.raw(item_id, version.number).body.decode() for version in versions]
    words = [body.partition("The news of today is ")[2].partition(",")[0] for body in bodies]
    if len(set(words)) != len(words):
        faults.append(f"a change of {item_id} was stored twice: {words}")
    return faults


if __name__ == "__main__":
    run_script(attack, 12, 200)
