"""Time and order: dates in all zones, first saves at once, and polls beside a server that polls too.

`python -m tests.hostile.time_order [--full] [--engine sqlite|postgres]`: pages with dates in every form and zone come in the
order of their instants, and filters find exactly those of a period; of two first saves of a page exactly one adds it; a poll
reports every feed and every new entry, no matter which user fetched them.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from threading import Barrier, Event

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.poll import PollReport, due_feeds, poll_feeds, poll_now
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import Item, ItemQuery, NewItem
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store, parse_query
from tests.hostile.store_places import USER, library_faults, run_script
from tests.site.server import Reply, Request, Site
from tests.store.making import make_item, make_raw

DATES = 40
"""Pages of one round."""
FEEDS, ENTRIES = 6, 3
"""Feeds that are polled in one round, and their new entries."""


def write_date(dice: random.Random) -> tuple[str, datetime, int]:
    """A date as pages write it, the instant at which it begins, and how many characters of it name a day, month or year."""
    zone = timezone(timedelta(minutes=dice.choice((-720, -570, -300, 0, 60, 330, 345, 540, 840))))
    time = datetime(2023, 12, 30, tzinfo=zone) + timedelta(milliseconds=dice.randrange(5 * 86_400_000))
    day = datetime(time.year, time.month, time.day, tzinfo=UTC)
    return dice.choice(
        (
            (f"{time.year}", day.replace(month=1, day=1), 4),
            (f"{time:%Y-%m}", day.replace(day=1), 7),
            (f"{time:%Y-%m-%d}", day, 10),
            (f"{time:%Y-%m-%d %H:%M}", time.replace(second=0, microsecond=0, tzinfo=UTC), 10),
            (f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", time.replace(microsecond=0), 10),
            (time.isoformat(timespec="milliseconds"), time, 10),
        )
    )


def dates_in_order(where: str, round_: int) -> list[str]:
    """Pages of the days around a new year, in all zones."""
    dice = random.Random(round_)
    made = [write_date(dice) for _ in range(DATES)]
    with closing(open_store(where, USER)) as library:
        urls = {f"https://dates{round_}.example/{number}": one for number, one in enumerate(made)}
        items = [make_item(user_id=USER, url=url, published_at=date) for url, (date, _, _) in urls.items()]
        library.items.save_many([NewItem(item) for item in items], lambda _old, new: new)
        found = [item for item in _walk(library, dice.randrange(1, 9), dice.random() < 0.5) if item.url in urls]
        faults = [] if len(found) == DATES else [f"{len(found)} of {DATES} dates are listed"]
        for earlier, later in pairwise(found):
            if urls[earlier.url][1] > urls[later.url][1]:
                faults.append(f"{earlier.published_at} is before {later.published_at}")
        for period, begin, end in (
            ("2023", datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)),
            ("2024-01", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)),
            ("2023-12-31", datetime(2023, 12, 31, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)),
        ):
            within = {url for url, (_, at, chars) in urls.items() if begin <= at < end and chars >= len(period)}
            before = {url for url, (_, at, _) in urls.items() if at < begin}
            for query, wanted in ((f"published:{period}", within), (f"published-before:{period}", before)):
                got = {hit.item.url for hit in library.search.find(parse_query(query, limit=1_000)).hits} & {*urls}
                faults += [f"{query} differs in {urls[url][0]}" for url in got ^ wanted]
        for item in found:
            library.items.delete(item.id, item.saved_at)
        library.items.purge()
    return faults


def _walk(library: Store, limit: int, backwards: bool) -> list[Item]:
    """All items by their dates, the earliest first, read in pages."""
    found: list[Item] = []
    after = None
    while True:
        page = library.search.find(ItemQuery(order="published", descending=backwards, limit=limit, after=after))
        found += page.items
        after = page.next
        if after is None:
            return found[::-1] if backwards else found


def first_saves(where: str, round_: int) -> list[str]:
    """Four first saves of a page at once, each by its own connection: one adds it, and its page stays."""
    url, gate = f"https://first{round_}.example/", Barrier(4)

    def add(number: int) -> tuple[int, Item | None]:
        with closing(open_store(where, USER)) as library:
            item, raw = make_item(user_id=USER, url=url, title=f"Save {number}"), make_raw(b"<p>%d</p>" % number)
            gate.wait()
            return number, library.items.add(item, raw)

    with ThreadPoolExecutor(4) as threads:
        added = [(number, item) for number, item in threads.map(add, range(4)) if item is not None]
    if len(added) != 1:
        return [f"{len(added)} of 4 first saves added the page"]
    number, item = added[0]
    with closing(open_store(where, USER)) as library:
        stored, raw = library.items.by_url(url), library.items.raw(item.id)
    if stored != item or raw is None or raw.body != b"<p>%d</p>" % number:
        return [f"the page that save {number} added is not the one that is stored"]
    return []


def polls_beside_a_server(where: str, round_: int) -> list[str]:
    """A poll by hand while a server polls what is due: the report has all feeds, and all their new entries."""
    shown = [f"{round_} first {number}" for number in range(ENTRIES)]

    async def feed(request: Request, reply: Reply) -> None:
        items = "".join(f"<item><title>{one}</title><guid>{request.target} {one}</guid></item>" for one in shown)
        await reply.send(f"<rss version='2.0'><channel>{items}</channel></rss>", content_type="application/rss+xml")

    settings = Settings(render="never", allow_hosts=("127.0.0.1",), per_host_delay=0, retries=0)
    done, faults = Event(), list[str]()

    async def serve(library: Store, retrieval: Retrieval) -> None:
        while not done.is_set():
            await poll_feeds(due_feeds(library), library, retrieval, PollReport())
            await asyncio.sleep(0.001)

    async def poll(library: Store, retrieval: Retrieval) -> None:
        for turn in range(2):
            report = await poll_now((), library, retrieval)
            if (report.polled, report.added, report.failed) != (FEEDS, FEEDS * ENTRIES, 0):
                faults.append(f"turn {turn}: {report}")
            shown[:0] = [f"{round_} second {number}" for number in range(ENTRIES)]

    def run(work: Callable[[Store, Retrieval], asyncio.Future[None]]) -> None:
        async def inside() -> None:
            async with Retrieval(settings, Rulebook()) as retrieval:
                await work(library, retrieval)

        with closing(open_store(where, USER)) as library:
            try:
                asyncio.run(inside())
            except Exception as error:
                faults.append(f"{type(error).__name__}: {error}"[:200])
            finally:
                done.set()

    with Site({"feed": feed}) as site:
        with closing(open_store(where, USER)) as library:
            feeds = [add_feed(library, site.url(f"/feed?{number}"))[0] for number in range(FEEDS)]
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(run, (poll, serve)))  # type: ignore[arg-type]
        with closing(open_store(where, USER)) as library:
            for one in feeds:
                library.feeds.remove(one.id)
    return faults


ATTACKS = ((dates_in_order, 1), (first_saves, 1), (polls_beside_a_server, 10))
"""Each, and for how many rounds it runs once."""


def attack(where: str, count: int) -> list[str]:
    """Run every attack; return the faults."""
    faults: list[str] = []
    for one, rounds in ATTACKS:
        for round_ in range(0, count, rounds):
            faults += [f"{one.__name__} {round_}: {fault}" for fault in one(where, round_)]
    return faults + library_faults(where)


if __name__ == "__main__":
    run_script(attack, 20, 500)
