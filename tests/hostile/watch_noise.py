"""A page with 12 true changes among noise is visited 200 times, and the parser and rules change in between: 12 changes are found.

`python -m tests.hostile.watch_noise [--full] [--engine sqlite|postgres]`: 1 or 5 pages with other noise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.library import watch
from pagekeep.library.archive import versions as texts
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.rules import Rulebook
from pagekeep.rules.loading import read
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, library_faults, run_script
from tests.library.history.changing_site import ChangingPage
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

VISITS = 200
NEW_RULES = """
- id: tests-newer-rules
  trigger: {dom: {any: [article]}}
  remove: ["article p:nth-of-type(2)"]
"""


@contextmanager
def serving(page: ChangingPage) -> Iterator[Site]:
    """A site with this page."""

    async def show(_request: SiteRequest, reply: Reply) -> None:
        await reply.send(page.html())

    with Site({"page": show}) as site:
        yield site


async def visit_all(
    page: ChangingPage, url: str, library: Store, settings: Settings, visits: int
) -> tuple[list[int], list[int]]:
    """Visit the page many times; return the visits at which it changed, and those at which a change was found.

    Halfway the program is updated: it has another parser, and rules that extract another text.
    """
    changed, found = [], []
    newer, versions = Rulebook(read(NEW_RULES, "tests").rules), (texts.PARSER_VERSION, watch.PARSER_VERSION)
    try:
        async with Retrieval(settings) as retrieval, Retrieval(settings, newer) as later:
            page.begin_visit(0)
            saved = await save(SaveRequest(Request(url, render="never")), library, retrieval)
            watch.watch(library, saved.item.id)
            for number in range(1, visits + 1):
                if number == visits // 2:
                    texts.PARSER_VERSION = watch.PARSER_VERSION = 10_000  # type: ignore[misc]
                    retrieval = later
                if page.begin_visit(number):
                    changed.append(number)
                item = library.items.get(saved.item.id)
                schedule = library.schedules.get(watch.TASK, item.id)
                if schedule is not None and await watch.visit(item, schedule, library, retrieval):
                    found.append(number)
    finally:
        texts.PARSER_VERSION, watch.PARSER_VERSION = versions  # type: ignore[misc]
    return changed, found


def faults_of(changed: list[int], found: list[int]) -> list[str]:
    """What is wrong with what was found. Beside an advertisement the next visit decides, so a change may be one visit late."""
    late = [number for number in changed if number not in found and number + 1 in found]
    expected = sorted(number + (number in late) for number in changed)
    return [] if expected == found else [f"changes at {changed}, found at {found}"]


def attack(where: str, count: int) -> list[str]:
    """Watch this many pages; what is wrong then."""
    pause, watch.CONFIRM_SECONDS = watch.CONFIRM_SECONDS, 0.0  # type: ignore[misc]
    settings = Settings(
        library=where, user=USER, allow_hosts=("127.0.0.1",), per_host_delay=0.0, render="never", keep_pictures="none"
    )
    faults = []
    try:
        for seed in range(count):
            page = ChangingPage(seed, visits=VISITS)
            with serving(page) as site, closing(open_store(where, USER)) as library:
                changed, found = asyncio.run(visit_all(page, site.url(f"/page/{seed}"), library, settings, VISITS + 2))
            faults += faults_of(changed, found) if len(changed) == 12 else ["the page has not 12 changes"]
    finally:
        watch.CONFIRM_SECONDS = pause  # type: ignore[misc]
    return faults + library_faults(where)


if __name__ == "__main__":
    run_script(attack, 1, 5)
