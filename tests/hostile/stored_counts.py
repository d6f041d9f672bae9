"""What a library takes on the disk, as triggers keep it, against counting everything again: random histories, also at once.

`python -m tests.hostile.stored_counts [--full]`: on both engines, histories of saves, new versions, other sites, pictures, deleting and
purging; and users who save the same pages and pictures from several threads. Without `--full`, few of them.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from pagekeep.errors import NotFound, StoreError
from pagekeep.model import BlobRole, BlobUse, Filter, ItemBlob, ItemQuery, Retention, Storage, item_filters
from pagekeep.store import Store, open_store
from pagekeep.store.engine import Transaction
from tests.store.making import NOW, make_item, make_raw, moment, postgres_server

STEPS: Final = 60
FULL: Final = 60
"""Histories for each engine."""
THREADS: Final = 4
SOON: Final = moment(600)
"""After all times of the histories, and before a file that is stored and not linked yet may be removed, an hour after `NOW`."""
ROLES: Final = cast("tuple[BlobRole, ...]", ("picture", "hero", "screenshot"))


def act(chance: random.Random, library: Store) -> None:
    """Change something about one of a few pages, with few different bodies and pictures, so that many are shared."""
    now = moment(chance.randrange(600))
    found = library.search.find(ItemQuery(limit=50)).items
    found += library.search.find(ItemQuery(filters=(Filter("is", "failed"),), limit=50)).items
    trash = library.search.find(ItemQuery(filters=item_filters(deleted=True), limit=50)).items
    item = chance.choice(found) if found else None
    kind = chance.randrange(9) if item else 0
    raw = make_raw(b"" if chance.random() < 0.1 else b"x" * chance.randrange(1, 6))
    if kind <= 1 or item is None:
        new = make_item(
            chance.randrange(8),
            user_id=library.user_id,
            domain=f"{chance.randrange(3)}.org",
            content="w " * chance.randrange(4),
        )
        new = replace(
            new,
            metadata=replace(new.metadata, failed=chance.random() < 0.1),
            url=f"https://example.com/{chance.randrange(8)}",
        )
        versions = chance.choice(("replace", "add", "keep"))
        library.items.save(new, raw if chance.random() < 0.8 else None, versions=versions, retention=Retention(count=2))
    elif kind <= 4:
        links = [_link(chance, library) for _ in range(chance.randrange(1, 4))]
        library.blobs.link(item.id, links) if kind == 2 else library.blobs.replace_links(
            item.id, ROLES[: kind - 1], links
        )
    elif kind == 5:
        library.blobs.replace_links(item.id, [chance.choice(ROLES)], ())
        library.blobs.collect(now, SOON, at_once=chance.random() < 0.5)
    elif kind == 6:
        library.items.delete(item.id, now)
    elif trash and kind == 7:
        library.items.purge([trash[0].id])
    elif trash:
        library.items.restore(trash[0].id, now)


def _link(chance: random.Random, library: Store) -> ItemBlob:
    role, source = chance.choice(ROLES), f"https://example.com/{chance.randrange(3)}.png"
    if chance.random() < 0.3:
        return ItemBlob(role, source, "left_out", NOW, reason="too_large")
    name = library.blobs.put(b"p" * chance.randrange(1, 5), NOW)
    return ItemBlob(role, source, "kept", NOW, "image/png", name, 3)


def measure(tx: Transaction) -> tuple[Storage, dict[str, int]]:
    """Count everything again, with queries that know nothing of the triggers; also what `stats` has of it."""

    def one(sql: str) -> BlobUse:
        count, size = tx.all(sql, user=tx.user_id)[0]
        return BlobUse(int(count), int(size or 0))

    used = "EXISTS (SELECT 1 FROM item_blobs l WHERE l.user_id = b.user_id AND l.hash = b.hash)"
    roles = tx.all(
        "SELECT r.role, COUNT(*), SUM(r.stored) FROM (SELECT DISTINCT l.role, b.hash, b.stored FROM item_blobs l "
        "JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash WHERE l.user_id = :user) r GROUP BY r.role",
        user=tx.user_id,
    )
    sites = tx.all(
        "SELECT s.domain, SUM(s.stored) FROM ("
        "SELECT DISTINCT i.domain, b.hash, b.stored FROM item_blobs l JOIN items i ON i.user_id = l.user_id "
        "AND i.id = l.item_id JOIN blobs b ON b.user_id = l.user_id AND b.hash = l.hash WHERE l.user_id = :user "
        "UNION ALL SELECT DISTINCT i.domain, r.hash, r.packed FROM raw_pages p JOIN items i ON i.user_id = p.user_id "
        "AND i.id = p.item_id JOIN raw_bodies r ON r.user_id = p.user_id AND r.hash = p.hash WHERE p.user_id = :user"
        ") s GROUP BY s.domain ORDER BY SUM(s.stored) DESC, s.domain",
        user=tx.user_id,
    )
    storage = Storage(
        text=one("SELECT 0, SUM(LENGTH(content)) FROM items WHERE user_id = :user").bytes,
        raw_pages=one("SELECT COUNT(*), SUM(packed) FROM raw_bodies WHERE user_id = :user"),
        snapshots=one(
            "SELECT COUNT(*), SUM(b.packed) FROM raw_bodies b WHERE b.user_id = :user AND NOT EXISTS "
            "(SELECT 1 FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash)"
        ),
        blobs=one("SELECT COUNT(*), SUM(stored) FROM blobs WHERE user_id = :user"),
        roles={role: BlobUse(int(count), int(size)) for role, count, size in sorted(roles)},
        unused=one(f"SELECT COUNT(*), SUM(b.stored) FROM blobs b WHERE b.user_id = :user AND NOT {used}"),
        left_out=one("SELECT COUNT(*), 0 FROM item_blobs WHERE user_id = :user AND state = 'left_out'").count,
        sites=tuple((domain, int(size)) for domain, size in sites),
    )
    items = one(
        "SELECT COUNT(*), COUNT(DISTINCT domain) FROM items WHERE user_id = :user AND deleted_at IS NULL AND NOT failed"
    )
    words = one(
        "SELECT 0, SUM(w.words) FROM items i JOIN item_words w ON w.seq = i.seq "
        "WHERE i.user_id = :user AND i.deleted_at IS NULL AND NOT i.failed"
    )
    size = one("SELECT 0, SUM(size) FROM raw_bodies WHERE user_id = :user")
    return storage, {"items": items.count, "domains": items.bytes, "words": words.bytes, "raw_bytes": size.bytes}


def faults(library: Store) -> list[str]:
    """Return what is wrong with the numbers of a library."""
    storage, counts = library._engine.read(measure)
    kept, stats = library.blobs.storage(), library.counts.totals()
    found = [f"{name}: {stats[name]} instead of {count}" for name, count in counts.items() if stats[name] != count]
    if kept != storage:
        found.append(f"{kept} instead of {storage}")
    return found + library.counts.faults()


def run_history(library: Store, seed: int, steps: int = STEPS) -> list[str]:
    """Change a library at random, and return what was wrong at any time."""
    chance = random.Random(seed)
    for step in range(steps):
        act(chance, library)
        if step % 5 == 4 and (found := faults(library)):
            return [f"history {seed}, step {step}: {fault}" for fault in found]
    return [f"history {seed}: {fault}" for fault in faults(library)]


def run_at_once(open_one: Callable[[], Store], seed: int, steps: int = STEPS) -> list[str]:
    """Change the library of one user from several threads."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        with closing(open_one()) as library:
            for _ in range(steps):
                try:
                    act(chance, library)
                except NotFound:  # another thread has purged it
                    continue
                except StoreError as error:
                    if "was removed while it was added" in error.message:  # by another thread's `collect_blobs`
                        continue
                    failed.append(error)
                    return
                except BaseException as error:
                    failed.append(error)
                    return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(open_one()) as library:
        return [f"at once {seed}: {fault}" for fault in (*map(repr, failed), *faults(library))]


def run(place: Callable[[], str], histories: int) -> list[str]:
    """Run histories on new libraries; return what was wrong."""
    found: list[str] = []
    for seed in range(histories):
        where, user = place(), f"user-{uuid.uuid4()}"

        def open_one(where: str = where, user: str = user) -> Store:
            return open_store(where, user)

        with closing(open_one()) as library:
            found += run_history(library, seed)
        if seed % 3 == 0:
            found += run_at_once(open_one, seed)
    return found


def main(arguments: list[str]) -> int:
    """Run the histories on both engines, and print the faults."""
    histories = FULL if "--full" in arguments else 2
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        places: dict[str, Callable[[], str]] = {
            "SQLite": lambda: str(Path(folder) / f"{uuid.uuid4()}.db"),
            "PostgreSQL": lambda: server.app,
        }
        results: dict[str, Any] = {name: run(place, histories) for name, place in places.items()}
    for name, found in results.items():
        print(f"{name}: {histories} histories of {STEPS} steps, {len(found)} faults", *found[:10], sep="\n  ")
    return int(any(results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
