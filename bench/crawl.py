"""What crawling costs: against fetching and extracting alone, with one and two workers on PostgreSQL, and in memory.

    python bench/crawl.py cost --pages 400          # a crawl, and the same pages fetched and extracted alone
    python bench/crawl.py workers --pages 400       # one and two worker processes on one PostgreSQL
    python bench/crawl.py memory --pages 20000      # of the crawling process, at every tenth of the pages

CPU seconds are of the process and its children, without the servers, which run in another process.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import read_pages, start_crawl
from pagekeep.library.crawl.worker import CrawlWorker
from pagekeep.model import Options
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store, open_store
from pagekeep.workers import Room, current_client

SETTINGS = Settings(allow_hosts=("127.0.0.0/8",), crawl_delay=0.0, per_host_delay=0.0, timeout=30, render="never")
SERVER = """
import sys, time
from tests.site.maze import Maze, MazeServers
with MazeServers(Maze(int(sys.argv[1]), 1, failures=0.0, words=int(sys.argv[2]))) as maze:
    print(maze.urls[0], flush=True)
    sys.stdin.read()
"""


@contextmanager
def serve(pages: int, words: int) -> Iterator[str]:
    """Run the site in another process; yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(pages), str(words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait()


def cpu() -> float:
    """CPU seconds of this process, and of its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def memory() -> float:
    """Memory of this process in MB."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1000
    return 0.0


async def crawl(library: Store, url: str, room: Room, report: object = None) -> Crawl:
    async with Retrieval(SETTINGS, room=room) as retrieval:
        options = CrawlOptions((f"{url}/",), exclude=("/traps",), pages=1_000_000, depth=100)
        worker = CrawlWorker(start_crawl(library, options).id, library, retrieval, clients=2)
        if report is not None:
            worker.report = report  # type: ignore[assignment]
        return await worker.run()


async def fetch_and_extract(urls: list[str], room: Room) -> None:
    """Fetch and extract pages, as many at a time as a crawl does, and keep nothing."""
    slots = asyncio.Semaphore(8)
    async with Retrieval(SETTINGS, room=room) as retrieval:

        async def one(number: int, url: str) -> None:
            async with slots:
                current_client.set(f"bench {number % 2}")
                fetched = await retrieval.client.visit(url)
                await retrieval.extract(fetched, Options())

        await asyncio.gather(*(one(number, url) for number, url in enumerate(urls)))


def measure_cost(pages: int, words: int, folder: Path) -> None:
    with serve(pages, words) as url, closing(open_store(folder / "library.db")) as library:
        crawling, ended = _timed(lambda room: crawl(library, url, room))
        urls = [page.requested for page in read_pages(library, ended.id)]  # type: ignore[attr-defined]
        plain, _ = _timed(lambda room: fetch_and_extract(urls, room))
    for name, (seconds, used) in (("crawl", crawling), ("fetch and extract", plain)):
        print(
            f"{name:>18}: {len(urls)} pages, {1000 * seconds / len(urls):.1f} ms, {1000 * used / len(urls):.1f} ms of CPU each"
        )
    print(f"{'ratio':>18}: {crawling[0] / plain[0]:.2f} of time, {crawling[1] / plain[1]:.2f} of CPU")


def _timed(work: object) -> tuple[tuple[float, float], object]:
    """Run with a new room; return seconds and CPU seconds, and the result."""
    used, started = cpu(), time.monotonic()
    room = Room(2)
    room.fork()
    try:
        result = asyncio.run(work(room))  # type: ignore[operator]
        seconds = time.monotonic() - started
    finally:
        room.close()
    return (seconds, cpu() - used), result


def measure_workers(pages: int, words: int) -> None:
    from tests.store.making import postgres_server

    environment = {
        **os.environ,
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.0/8",
        "PAGEKEEP_CRAWL_DELAY": "0",
        "PAGEKEEP_RENDER": "never",
    }
    rates = {}
    with serve(pages, words) as url, postgres_server() as server:
        for workers in (1, 2):
            user = f"reader-{workers}"
            with closing(open_store(server.shared, user)) as library:
                start_crawl(library, CrawlOptions((f"{url}/",), exclude=("/traps",), depth=100))
                command = [sys.executable, "-m", "pagekeep", "work", "--at-a-time", "1", "--library", server.shared]
                running = [
                    subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(workers)
                ]
                rates[workers] = _rate(library, pages)
                for process in running:
                    process.terminate()
                    process.wait()
            print(f"{workers} workers: {rates[workers]:.1f} pages per second")
    print(f"ratio: {rates[2] / rates[1]:.2f}")


def _rate(library: Store, pages: int) -> float:
    """Return pages per second from a tenth of the pages to the end, when all workers run."""
    (crawl,) = library.crawls.list()
    while crawl.kept < pages // 10:
        time.sleep(0.05)
        (crawl,) = library.crawls.list()
    first, started = crawl.kept, time.monotonic()
    while crawl.state == "running":
        time.sleep(0.05)
        (crawl,) = library.crawls.list()
    return (crawl.kept - first) / (time.monotonic() - started)


def measure_memory(pages: int, words: int, folder: Path) -> None:
    step = max(1, pages // 10)
    shown = [0]

    def report(crawl: Crawl) -> None:
        if crawl.kept // step > shown[0]:
            shown[0] = crawl.kept // step
            print(f"{crawl.kept:>8} pages: {memory():.0f} MB", flush=True)

    room = Room(2)
    room.fork()
    try:
        with serve(pages, words) as url, closing(open_store(folder / "library.db")) as library:
            ended = asyncio.run(crawl(library, url, room, report))
            size = sum(path.stat().st_size for path in folder.iterdir())
            print(f"{ended.kept} pages, {size / max(1, ended.kept) / 1000:.1f} KB of library each")
    finally:
        room.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "workers", "memory"))
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--words", type=int, default=600, help="Words of each page; a typical article has 600.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.what == "cost":
            measure_cost(options.pages, options.words, Path(folder))
        elif options.what == "workers":
            measure_workers(options.pages, options.words)
        else:
            measure_memory(options.pages, options.words, Path(folder))


if __name__ == "__main__":
    main()
