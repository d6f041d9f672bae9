"""A maze of 150 pages on three hosts, and what one crawl of it gave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.crawl import visit
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import start_crawl
from pagekeep.library.crawl.outputs import write_output
from pagekeep.library.crawl.worker import CrawlWorker
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store, open_store
from pagekeep.workers import Room
from tests.site.maze import Maze, MazeServers

SETTINGS = Settings(allow_hosts=("127.0.0.0/8",), crawl_delay=0.0, per_host_delay=0.0, timeout=10, render="never")
Run = Callable[..., Crawl]
Write = Callable[..., int]


@pytest.fixture(scope="module", autouse=True)
def _short_pauses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visit, "FIRST_PAUSE", 0.02)
        yield


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    opened = Room(2)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def run(room: Room) -> Run:
    """Works on a crawl until it ends, or for some seconds; `killed` leaves everything as a killed process would."""

    async def work(library: Store, crawl: Crawl, seconds: float | None, killed: bool, settings: Settings) -> Crawl:
        # A thread of a run that was killed may have leased addresses after all.
        library.frontier.release_leases(crawl.id, library.frontier.workers(crawl.id), "2025-01-01T00:00:00.000000Z")
        async with Retrieval(settings, room=room) as retrieval:
            worker = CrawlWorker(crawl.id, library, retrieval, clients=2)
            if killed:
                task = asyncio.create_task(worker.run())
                await asyncio.sleep(seconds or 0)
                worker.library = _Dead()  # type: ignore[assignment]
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                # Another process would find that this one is dead, and take its addresses.
                library.frontier.release_leases(crawl.id, [worker.name], "2025-01-01T00:00:00.000000Z")
                return library.crawls.get(crawl.id)
            return await worker.run(seconds)

    def start(
        library: Store,
        options: CrawlOptions,
        *,
        seconds: float | None = None,
        killed: bool = False,
        settings: Settings = SETTINGS,
    ) -> Crawl:
        return asyncio.run(work(library, start_crawl(library, options), seconds, killed, settings))

    return start


@pytest.fixture(scope="module")
def write(room: Room) -> Write:
    """Writes the pages of a crawl to a file."""

    async def work(library: Store, crawl: Crawl, kind: str, path: Path) -> int:
        async with Retrieval(SETTINGS, room=room) as retrieval:
            return await write_output(library, crawl, kind, path, retrieval)

    return lambda *given: asyncio.run(work(*given))


@pytest.fixture(params=["sqlite", "postgres"])
def any_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A library on both engines."""
    place = str(tmp_path / "library.db") if request.param == "sqlite" else request.getfixturevalue("postgres").app
    with closing(open_store(place, f"user-{tmp_path.name}")) as store:
        yield store


class _Dead:
    """A library that cannot be reached any more."""

    user_id = "nobody"

    def __getattr__(self, name: str) -> object:
        raise OSError("the process was killed")


class Crawled(NamedTuple):
    maze: Maze
    library: Store
    crawl: Crawl
    options: CrawlOptions
    requests: list[list[str]]
    """Targets that each host was asked for."""


@pytest.fixture(scope="module")
def maze() -> Iterator[Maze]:
    with MazeServers(Maze(150, 3)) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(maze: Maze, run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl of the whole maze."""
    path: Path = tmp_path_factory.mktemp("crawl") / "library.db"
    options = CrawlOptions(tuple(f"{url}/" for url in maze.urls), depth=8)
    with closing(open_store(path, "keeper")) as library:
        crawl = run(library, options)
        yield Crawled(maze, library, crawl, options, [list(log.targets) for log in maze.logs])
