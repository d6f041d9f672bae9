"""Pages with random histories: each is in exactly one list, the one where it must be, and all counts agree (Q9).

`python -m tests.hostile.failed_saves [--full] [--engine sqlite|postgres]`

A history saves pages of a site that fails in every way, at once, through the queue, as an upload and by an import; it retries,
keeps, deletes, restores, tags and undoes. The oracle is a table of what each step does to the place of a page. After every step
each address that was ever sent must be in its one list, and lists, counts, statistics and export must say the same.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError, RetryLimit
from pagekeep.library.imports.build import merge_items
from pagekeep.library.items import build_item
from pagekeep.library.items import change as actions
from pagekeep.library.items.find import walk_items
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.run_jobs import MAX_ATTEMPTS, JobRunner
from pagekeep.library.saving import failed_saves
from pagekeep.library.saving.save import retry, save
from pagekeep.model import Item, ItemQuery, Metadata, NewItem, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, run_script
from tests.hostile.verify_histories import empty
from tests.site.fixtures import WALL, article
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

PAGES: Final = 3
"""Pages of one history."""
MODES: Final = ("page", "page", "wall", "404", "410", "403", "500", "429", "reset", "binary")
ARRIVES: Final = ("page", "wall")
Place = Literal["inbox", "failed", "trash"]


@dataclass
class Known:
    """What the oracle knows of a page that was sent once."""

    place: Place
    has_content: bool = False
    """Whether the page arrived once: then no failure moves it."""
    decided: bool = False
    """Whether the user has kept its bookmark, or it failed once without being kept: a first failure moves it."""
    before: Place = "inbox"
    """Where it is after it is restored from the trash."""
    undo: tuple[str, Place, Place] | None = None
    """The last action: its id, and the place before and after."""


@dataclass
class World:
    """A library and the site that its pages are from."""

    where: str
    library: Store
    site: Site
    modes: dict[str, str]
    retrieval: Retrieval
    dice: random.Random
    known: dict[str, Known] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)

    def url(self, name: str) -> str:
        return self.site.url(f"/page/{name}")

    def item(self, name: str) -> Item | None:
        return self.library.items.by_url(self.url(name))

    def arrived(self, name: str) -> None:
        """The page came: whatever it was, it is in the inbox now."""
        self.known[name] = Known("inbox", has_content=True)

    def failed(self, name: str) -> None:
        """A save of the page failed for good."""
        known = self.known.get(name)
        if known is None or known.place == "failed":
            self.known[name] = Known("failed", decided=True)
        elif known.has_content:
            known.place, known.undo = "inbox", None
        elif known.place == "trash" or not known.decided:
            self.known[name] = Known("failed", decided=True)

    def act(self, name: str, change: ItemChange, after: Place) -> None:
        """Change a page by the engine whose actions can be undone."""
        item, known = self.item(name), self.known.get(name)
        if item is None or known is None:
            return
        done = actions.change_selected(self.library, [item.id], change, "Changed")
        known.undo = (done.action.id, known.place, after) if after != known.place else None
        known.place = after


Step = Callable[[World, str], Awaitable[None]]


async def save_now(world: World, name: str) -> None:
    try:
        await save(SaveRequest(Request(world.url(name), render="never"), tags=("sea",)), world.library, world.retrieval)
    except PagekeepError:
        assert world.modes[name] not in ARRIVES
        world.failed(name)
    else:
        assert world.modes[name] in ARRIVES
        world.arrived(name)


async def save_by_queue(world: World, name: str) -> None:
    enqueue(SaveRequest(Request(world.url(name), render="never")), world.library)
    await run_queue(world)
    (world.arrived if world.modes[name] in ARRIVES else world.failed)(name)


async def run_queue(world: World) -> None:
    """Run all jobs until each is done or dead."""
    runner = JobRunner(
        "hand", world.library, lambda user: open_store(world.where, user), world.retrieval, lambda _result: None
    )
    for _ in range(MAX_ATTEMPTS):
        await runner.run(until_empty=True)
        world.library.jobs.make_due(clock.now(), clock.add_seconds(clock.now(), 600))
    assert not world.library.jobs.list("queued")


async def try_all_again(world: World, name: str) -> None:
    waiting = [one for one in world.known if world.known[one].place == "failed" and can_help(world, one)]
    failed_saves.try_all_again(world.library)
    await run_queue(world)
    for one in waiting:
        (world.arrived if world.modes[one] in ARRIVES else world.failed)(one)


def can_help(world: World, name: str) -> bool:
    item = world.item(name)
    return item is not None and item.metadata.fetch_again is True


async def retry_by_hand(world: World, name: str) -> None:
    item, known = world.item(name), world.known.get(name)
    if item is None or known is None or known.place == "trash":
        return
    try:
        await retry(item.id, world.library, world.retrieval, request=Request("", render="never"))
    except RetryLimit:
        return
    except PagekeepError:
        world.failed(name)
    else:
        world.arrived(name)


async def upload(world: World, name: str) -> None:
    empty_page = world.dice.random() < 0.3
    page = sent_page(world.url(name), "" if empty_page else article(200, name))
    try:
        await save(SaveRequest(Request(world.url(name)), uploaded=page), world.library, world.retrieval)
    except PagekeepError:
        world.failed(name)
    else:
        world.arrived(name)


async def import_bookmark(world: World, name: str) -> None:
    url = world.url(name)
    about = Metadata(title=f"Imported {name}" if world.dice.random() < 0.5 else None)
    bookmark = build_item.new_bookmark(
        about,
        url=url,
        url_full=url,
        user_id=USER,
        now=clock.now(),
        reason="Not fetched.",
        suggestion=None,
        source="import:x",
    )
    ((item, _outcome),) = world.library.items.save_many([NewItem(bookmark)], merge_items)
    known = world.known.get(name)
    if known is None:
        world.known[name] = Known("inbox")
        return
    # An import that knows more than the address is a new bookmark; any other changes nothing but takes it out of the trash.
    if item.metadata.last_error is None and not known.has_content:
        world.known[name] = Known("inbox")
    elif known.place == "trash":
        known.place, known.undo = known.before, None


async def keep(world: World, name: str) -> None:
    known = world.known.get(name)
    if known is not None and known.place == "failed":
        world.act(name, ItemChange(failed=False), "inbox")


async def delete(world: World, name: str) -> None:
    known = world.known.get(name)
    if known is not None and known.place != "trash":
        known.before = known.place
        world.act(name, ItemChange(deleted=True), "trash")


async def restore(world: World, name: str) -> None:
    known = world.known.get(name)
    if known is not None and known.place == "trash":
        world.act(name, ItemChange(deleted=False), known.before)


async def undo(world: World, name: str) -> None:
    known = world.known.get(name)
    if known is None or known.undo is None:
        return
    action, before, after = known.undo
    actions.undo_action(world.library, action)
    if known.place == after:
        known.before = known.place if before == "trash" else known.before
        known.place = before
    known.undo = None


async def tag(world: World, name: str) -> None:
    item = world.item(name)
    if item is not None:
        actions.change_selected(world.library, [item.id], ItemChange(add_tags=(world.dice.choice("abc"),)), "Tagged")


async def site_changes(world: World, name: str) -> None:
    world.modes[name] = world.dice.choice(MODES)


STEPS: Final[tuple[Step, ...]] = (
    *(save_now, save_now, save_by_queue, try_all_again, retry_by_hand, upload, import_bookmark),
    *(keep, keep, delete, restore, undo, undo, tag, site_changes, site_changes, site_changes),
)


def find_faults(world: World) -> list[str]:
    """Compare every list and count of the library with the oracle."""
    lists: dict[Place, list[str]] = {
        "inbox": [item.url for item in world.library.search.find(ItemQuery(limit=100)).items],
        "failed": [item.url for item in failed_saves.list_failed(world.library).items],
        "trash": [item.url for item in world.library.search.find(ItemQuery(filters=item_filters(deleted=True))).items],
    }
    faults = []
    for place, found in lists.items():
        wanted = sorted(world.url(name) for name, known in world.known.items() if known.place == place)
        if sorted(found) != wanted:
            faults.append(f"{place} has {sorted(found)}, not {wanted}")
    counts, stats = world.library.counts.get(["state"])["state"], world.library.counts.totals()
    sizes = {place: len(found) for place, found in lists.items()}
    if {place: counts.get(place, 0) for place in lists} != sizes:
        faults.append(f"counts {counts} of {sizes}")
    if (stats["items"], stats["failed"], stats["deleted"]) != tuple(sizes.values()):
        faults.append(f"statistics {dict(stats)} of {sizes}")
    if failed_saves.count_failed(world.library) != sizes["failed"]:
        faults.append("the count of failed saves is wrong")
    exported = sorted(item.url for item in walk_items(world.library))
    if exported != sorted(lists["inbox"] + lists["failed"]):
        faults.append(f"an export has {exported}")
    return faults + world.library.counts.faults()


async def live(world: World, number: int) -> list[str]:
    """One history."""
    names = [f"h{number}-{place}" for place in range(PAGES)]
    world.known.clear()
    for name in names:
        world.modes[name] = world.dice.choice(MODES)
    reported: list[str] = []
    for step in world.dice.choices(STEPS, k=world.dice.randint(5, 18)):
        name = world.dice.choice(names)
        reported.append(f"{step.__name__} {name} ({world.modes[name]})")
        await step(world, name)
        world.done[step.__name__] += 1
        faults = find_faults(world)
        if faults:
            return [f"history {number}, after {', '.join(reported)}: {faults}"]
    return []


async def _attack(where: str, count: int, seed: int) -> list[str]:
    modes: dict[str, str] = {}
    faults: list[str] = []

    async def show(request: SiteRequest, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        mode = modes[name]
        if mode == "reset":
            reply.reset()
        elif mode == "binary":
            await reply.send(b"\x00\x01" * 50, content_type="application/octet-stream")
        elif mode in ARRIVES:
            await reply.send(article(300, name) if mode == "page" else WALL)
        else:
            await reply.send(f"<title>{mode}</title>", status=int(mode))

    settings = Settings(
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        retries=0,
        keep_pictures="none",
        check_links_days=0,
        render="never",
    )
    with Site({"page": show}) as site, tempfile.TemporaryDirectory() as folder:
        place = where if where.startswith("postgres") else f"{folder}/library.db"
        with closing(open_store(place, USER)) as library:
            async with Retrieval(settings) as retrieval:
                world = World(place, library, site, modes, retrieval, random.Random(seed))
                for number in range(count):
                    empty(library)
                    for job in library.jobs.list("dead", limit=1_000):
                        with suppress(PagekeepError):
                            library.jobs.remove(job.id)
                    faults += await live(world, number)
    print(dict(sorted(world.done.items())))
    return faults


def attack(where: str, count: int, seed: int = 30) -> list[str]:
    """This many histories."""
    return asyncio.run(_attack(where, count, seed))


if __name__ == "__main__":
    run_script(attack, 20, 1_000)
