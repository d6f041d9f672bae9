"""Use cases at once on one library: nothing is lost or doubled, and nothing fails but with a typed error.

`python -m tests.hostile.library_races [--full] [--engine sqlite|postgres]`: two saves of one page, delete during reparse and
retry, purge during export and reparse, two mirrors on one folder, import beside import, annotate and tag during purge.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound, Outdated, PagekeepError
from pagekeep.library.exports.run import FORMATS, ExportOptions, export
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.library.items import annotations, change
from pagekeep.library.mirror.run import mirror
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.reparse import reparse
from pagekeep.library.saving.save import save
from pagekeep.model import Fetched, ItemQuery, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, all_items, library_faults, run_script
from tests.library.imports import samples
from tests.site.fixtures import article
from tests.store.making import make_item, make_raw

Work = Callable[[Store], object]


def at_once(where: str, works: list[Work], allowed: tuple[type[PagekeepError], ...] = ()) -> list[str]:
    """Run each work in its own thread with its own store; return the errors that are not allowed."""
    gate = Barrier(len(works))

    def run(work: Work) -> str:
        with closing(open_store(where, USER)) as library:
            gate.wait()
            try:
                work(library)
            except allowed:
                pass
            except Exception as error:
                return f"{type(error).__name__}: {error}"[:200]
        return ""

    with ThreadPoolExecutor(len(works)) as threads:
        return [error for error in threads.map(run, works) if error]


def _fill(where: str, count: int, prefix: str) -> list[str]:
    page = article(120).encode()
    with closing(open_store(where, USER)) as library:
        return [
            library.items.save(
                make_item(user_id=USER, url=f"https://{prefix}.example/{number}", title=f"{prefix} {number}"),
                make_raw(page),
            ).id
            for number in range(count)
        ]


def _urls(where: str, prefix: str, *, deleted: bool = False) -> list[str]:
    with closing(open_store(where, USER)) as library:
        found = (
            library.search.find(ItemQuery(filters=item_filters(deleted=deleted), limit=1_000)).items
            if deleted
            else all_items(library)
        )
        return [item.url for item in found if item.url.startswith(f"https://{prefix}.example/")]


def two_saves(where: str, round_: int) -> list[str]:
    """One page sent by two browsers at once makes one item with the tags of both; one of them reports that it is new."""
    url = f"https://saves{round_}.example/page"
    body, outcomes = article(150).encode(), list[str]()

    def send(tag: str) -> Work:
        async def work(library: Store) -> None:
            async with Retrieval(Settings(render="never"), Rulebook()) as retrieval:
                uploaded = Fetched(url, url, 200, {}, body, encoding="utf-8")
                saved = await save(SaveRequest(Request(url), tags=(tag,), uploaded=uploaded), library, retrieval)
                outcomes.append(saved.outcome)

        return lambda library: asyncio.run(work(library))

    errors = at_once(where, [send("one"), send("two")])
    with closing(open_store(where, USER)) as library:
        found = [item for item in all_items(library) if item.url == url]
    if len(found) != 1 or not {"one", "two"} <= set(found[0].metadata.tags):
        errors.append(f"two saves: {[item.metadata.tags for item in found]}")
    if sorted(outcomes) != ["added", "updated"]:
        errors.append(f"two saves report {outcomes}")
    return errors


def delete_during_reparse(where: str, round_: int) -> list[str]:
    """Items that are deleted or purged while they are parsed again stay so; the others are parsed."""
    ids = _fill(where, 12, f"reparse{round_}")

    def purge(library: Store) -> None:
        for item_id in ids[::3]:
            change.change_item(library, item_id, change.MOVES["delete"])
        for item_id in ids[1::3]:
            change.change_item(library, item_id, change.MOVES["delete"])
            change.purge_items(library, [item_id])

    done: list[str] = []

    def parse(library: Store) -> None:
        done.extend(result.item.id for result in reparse(library, ids, Rulebook(), processes=1, force=True))

    errors = at_once(where, [parse, purge])
    left, deleted = _urls(where, f"reparse{round_}"), _urls(where, f"reparse{round_}", deleted=True)
    if (len(left), len(deleted)) != (4, 4):
        errors.append(f"delete during reparse: {len(left)} left, {len(deleted)} deleted")
    if not set(ids[2::3]) <= set(done):
        errors.append(f"delete during reparse: only {len(done)} were parsed")
    return errors


def purge_during_export(where: str, round_: int) -> list[str]:
    """An export beside deletions has each item that is not deleted once."""
    prefix = f"export{round_}"
    ids = _fill(where, 30, prefix)

    def purge(library: Store) -> None:
        for item_id in ids[::2]:
            change.change_item(library, item_id, change.MOVES["delete"])
            change.purge_items(library, [item_id])

    with tempfile.TemporaryDirectory() as folder:
        query = prefix if round_ % 2 else None
        jobs = [
            lambda library, format=format: asyncio.run(
                export(library, Path(folder) / format, ExportOptions(format=format, query=query), Settings())
            )
            for format in FORMATS
        ]
        errors = at_once(where, [purge, *jobs])
        lines = (Path(folder) / "jsonl").read_text().splitlines() if (Path(folder) / "jsonl").exists() else []
    kept = [sum(f'https://{prefix}.example/{number}"' in line for line in lines) for number in range(30)]
    if any(count > 2 for count in kept) or not all(kept[1::2]):
        errors.append(f"purge during export: {kept}")
    return errors


def two_mirrors(where: str, round_: int) -> list[str]:
    """Two mirrors of one folder make one file for each item."""
    _fill(where, 10, f"mirror{round_}")
    with tempfile.TemporaryDirectory() as folder:
        errors = at_once(where, [lambda library: mirror(library, Path(folder))] * 2, (PagekeepError,))
        with closing(open_store(where, USER)) as library:
            mirror(library, Path(folder))
            wanted = len(all_items(library))
        files = [path for path in Path(folder).rglob("*.md") if not path.name.startswith(".")]
        ids = [line for path in files for line in path.read_text().splitlines() if line.startswith("id: ")]
    if len(files) != wanted or len(set(ids)) != wanted:
        errors.append(f"two mirrors: {len(files)} files of {wanted} items")
    return errors


def change_during_delete(where: str, round_: int) -> list[str]:
    """Tags, annotations and new pages for an item that is deleted and purged: a typed error, or it is there."""
    ids = _fill(where, 10, f"change{round_}")

    def purge(library: Store) -> None:
        for item_id in ids:
            change.change_item(library, item_id, change.MOVES["delete"])
        change.purge_items(library, ids)

    def tag(library: Store) -> None:
        for item_id in ids:
            with suppress(NotFound, Outdated):
                change.change_item(library, item_id, ItemChange(add_tags=("late",)))

    def annotate(library: Store) -> None:
        for item_id in ids:
            with suppress(NotFound):
                annotations.annotate(library, item_id, "late", note="late")

    def again(library: Store) -> None:
        page = make_raw(article(100).encode())
        for number in range(0, 10, 5):
            library.items.save(make_item(user_id=USER, url=f"https://change{round_}.example/{number}"), page)

    errors = at_once(where, [purge, tag, annotate, again])
    if len(_urls(where, f"change{round_}")) > 2:
        errors.append("change during delete: purged items are back")
    return errors


def two_imports(where: str, round_: int) -> list[str]:
    """Two imports of the same file at once, and of another beside: each row once."""
    data = samples.pinboard().replace("harbour", f"import{round_}-")
    other = samples.netscape().replace("harbour", f"import{round_}-").encode()

    def take(file: bytes) -> Work:
        return lambda library: import_stream(io.BytesIO(file), "export", library, ImportPlan(Rulebook(), queue=True))

    errors = at_once(where, [take(data.encode()), take(data.encode()), take(other)])
    with closing(open_store(where, USER)) as library:
        urls = [item.url for item in all_items(library) if f"import{round_}-" in item.url]
        jobs = [job.url for job in library.jobs.list(limit=100_000) if f"import{round_}-" in job.url]
    if (len(urls), len(set(urls)), len(jobs), len(set(jobs))) != (samples.COUNT,) * 4:
        errors.append(f"two imports: {len(urls)} items and {len(jobs)} jobs of {samples.COUNT}")
    return errors


RACES = (two_saves, delete_during_reparse, purge_during_export, two_mirrors, change_during_delete, two_imports)


def attack(where: str, count: int) -> list[str]:
    """Run every race this many times; return the faults."""
    faults: list[str] = []
    for race in RACES:
        for round_ in range(count):
            faults += [f"{race.__name__} {round_}: {fault}" for fault in race(where, round_)]
    return faults + library_faults(where)


if __name__ == "__main__":
    run_script(attack, 3, 20)
