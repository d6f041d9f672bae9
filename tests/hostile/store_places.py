"""Databases under attack, and the deterministic pages that are put into them."""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagekeep.model import Item, ItemQuery, RawPage, item_filters
from pagekeep.store import Store, open_store, parse_query
from tests.store.making import NOW, Server, make_item, make_raw, postgres_server

USER = "attacked"
FORK = multiprocessing.get_context("fork")


def page(number: int, version: int = 0) -> tuple[Item, RawPage]:
    """Always the same for the same numbers; content, raw page and search words all tell number and version."""
    mark = f"number{number} version{version}"
    noise = hashlib.sha256(mark.encode()).hexdigest()
    item = make_item(
        number, user_id=USER, title=mark, content=f"{mark} {noise} words " * 20, nth=number, version=version
    )
    return replace(item, updated_at=f"{NOW[:20]}{version:06}Z"), make_raw(f"<p>{mark}</p>{noise * 50}".encode())


def faults_of(library: Store, number: int, least: int = 0) -> list[str]:
    """What is wrong with a page that was acknowledged in version `least`."""
    item = library.items.by_url(page(number)[0].url)
    if item is None:
        return [f"page {number} is lost"]
    version = item.metadata.extra["version"]
    wanted, raw = page(number, version)
    found = []
    if version < least:
        found.append(f"page {number} went back from version {least} to {version}")
    if (item.title, item.content) != (wanted.title, wanted.content) or library.items.raw(item.id) != raw:
        found.append(f"page {number} is partial")
    hits = [hit.item.metadata.extra["version"] for hit in library.search.find(parse_query(f"number{number}")).hits]
    if hits != [version]:
        found.append(f"page {number} in version {version} is found as {hits}")
    return found


def all_items(library: Store) -> list[Item]:
    """Everything outside the trash, page by page; failed saves come last."""
    items: list[Item] = []
    for filters in (item_filters(), item_filters(failed=True)):
        after = None
        while True:
            listed = library.search.find(ItemQuery(filters=filters, limit=500, after=after))
            items += listed.items
            after = listed.next
            if after is None:
                break
    return items


@contextmanager
def empty_sqlite() -> Iterator[str]:
    """A new file."""
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "library.db")


@contextmanager
def empty_postgres(server: Server) -> Iterator[str]:
    """The server's library without a row."""
    import psycopg

    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("TRUNCATE pagekeep.items, pagekeep.raw_bodies, pagekeep.jobs, pagekeep.domain_memory CASCADE")
    yield server.app


def start(work: Callable[..., None], *arguments: Any) -> multiprocessing.process.BaseProcess:
    """A separate process. Forked from one that has the modules, so that the time goes into the attack; it must not use
    a connection of its parent, so the parent has none open."""
    process = FORK.Process(target=work, args=arguments, daemon=True)
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads, which test runners have; ours holds no lock of theirs.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process


def kill(process: multiprocessing.process.BaseProcess) -> None:
    """As the kernel does when memory runs out."""
    if process.pid is not None and process.is_alive():
        os.kill(process.pid, signal.SIGKILL)
    process.join()


def run_script(
    attack: Callable[[str, int], list[str]],
    reduced: int,
    full: int,
    *,
    engines: tuple[str, ...] = ("sqlite", "postgres"),
) -> None:
    """The command line that every attack has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help=f"{full} times instead of {reduced}")
    parser.add_argument("--engine", choices=engines, action="append")
    chosen = parser.parse_args()
    failed = False
    for engine in chosen.engine or engines:
        began = time.monotonic()
        faults = attack_on(engine, attack, full if chosen.full else reduced)
        print(
            f"{engine}: {full if chosen.full else reduced} in {time.monotonic() - began:.0f} s, faults: {faults or 'none'}"
        )
        failed = failed or bool(faults)
    sys.exit(failed)


def attack_on(engine: str, attack: Callable[[str, int], list[str]], count: int) -> list[str]:
    """The faults that an attack on an empty library shows."""
    if engine == "sqlite":
        with empty_sqlite() as where:
            return attack(where, count)
    with postgres_server() as server, empty_postgres(server) as where:
        return attack(where, count)


def library_faults(where: str) -> list[str]:
    """What the library itself finds wrong."""
    with closing(open_store(where, USER)) as library:
        return library.check()
