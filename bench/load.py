"""Read and save at the same time: 50 readers and 5 writers for two minutes on a library of 200,000 items.

`python bench/load.py [--library FILE] [--readers 50] [--writers 5] [--seconds 120]`. `bench/scale.py make` makes the library;
without one, 10,000 items are made. It needs a quiet machine. Goals: the 95th percentile of a list is at most 5 times the
median of a single reader, there are no errors, and every save that the server acknowledged is in the library afterwards.

A reader lists, searches and reads, with a pause of about a second between two pages. A writer saves a page of a site on
loopback every second, by turns waiting for it (201) and leaving it to the queue (202); both are acknowledged.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import sys
import tempfile
import threading
import time
import uuid
from contextlib import closing
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.server import ARTICLE, ask, fill_new, late, memory, waits
from bench.store import USER
from pagekeep.library.items.find import look_up_url
from pagekeep.library.queue import count_jobs
from pagekeep.store import Store, open_store
from tests.hostile.server import Served, served
from tests.site.server import Reply, Request, Site

MAX_TIMES = 5.0
QUEUE_SECONDS = 600
"""How long the queue may take to be empty afterwards."""


class Writer(threading.Thread):
    """Save pages until stopped, and note which saves were acknowledged."""

    def __init__(self, server: Served, site: Site, number: int, until: float) -> None:
        super().__init__(daemon=True)
        self._where = urlsplit(server.address)
        self._site = site
        self._name = f"{uuid.uuid4().hex[:8]}-{number}"
        self._until = until
        self.saved: list[str] = []
        self.errors: list[str] = []

    def run(self) -> None:
        """Save one page after the other."""
        number = 0
        while time.perf_counter() < self._until:
            number += 1
            url = self._site.url(f"/page/{self._name}/{number}")
            try:
                status = self._save(url, wait=number % 2 == 0)
            except OSError as error:
                self.errors.append(f"{url}: {error}")
                continue
            if status in (200, 201, 202):
                self.saved.append(url)
            else:
                self.errors.append(f"{url}: {status}")
            time.sleep(1)

    def _save(self, url: str, *, wait: bool) -> int:
        with closing(http.client.HTTPConnection(str(self._where.hostname), self._where.port, timeout=120)) as line:
            path = "/api/v1/saves" + ("" if wait else "?wait=false")
            line.request("POST", path, json.dumps({"url": url}), {"Content-Type": "application/json"})
            answer = line.getresponse()
            answer.read()
            return answer.status


async def _article(request: Request, reply: Reply) -> None:
    await reply.send(ARTICLE.replace("The keeper", f"The keeper of {request.path}"))


def find_lost(store: Store, writers: list[Writer]) -> list[str]:
    """Return the acknowledged saves that are not in the library with their own text, once the queue is empty."""
    end = time.monotonic() + QUEUE_SECONDS
    while any(count_jobs(store)[state] for state in ("queued", "running")) and time.monotonic() < end:
        time.sleep(1)
    lost = []
    for url in (url for writer in writers for url in writer.saved):
        item = look_up_url(store, url)
        if item is None or urlsplit(url).path not in item.title:
            lost.append(url)
    return lost


def run(server: Served, site: Site, library: Path, asked: argparse.Namespace) -> int:
    """Measure one reader alone, then all together; return 1 when a goal is missed."""
    ask(server, 1, 3, pause=0)
    alone = ask(server, 1, max(5.0, asked.seconds / 4), pause=0.1)
    before = memory(server)
    until = time.perf_counter() + asked.seconds
    writers = [Writer(server, site, number, until) for number in range(asked.writers)]
    for writer in writers:
        writer.start()
    readers = ask(server, asked.readers, asked.seconds)
    for writer in writers:
        writer.join()
    after = memory(server)
    with closing(open_store(library, USER)) as store:
        lost = find_lost(store, writers)
    errors = [error for writer in writers for error in writer.errors]
    failed = sum(person.errors for person in (*alone, *readers))
    middle, end = median(waits(alone, "list")), late(alone, "list")
    times = late(readers, "list") / middle
    for kind in ("list", "search", "read"):
        print(
            f"{kind}: {1000 * median(waits(alone, kind)):.1f} ms alone, p95 {1000 * late(readers, kind):.1f} ms together"
        )
    print(
        f"list, p95 against alone: {times:.2f} of its median (at most {MAX_TIMES:g}), "
        f"{late(readers, 'list') / end:.2f} of its p95"
    )
    print(
        f"{len(waits(readers))} pages read, {failed} errors; {sum(len(one.saved) for one in writers)} saves acknowledged, "
        f"{len(errors)} errors, {len(lost)} lost",
        *errors[:5],
        *lost[:5],
        sep="\n  ",
    )
    print(f"memory of the server: {before // 1024} MB before, {after // 1024} MB after")
    return int(times > MAX_TIMES or bool(failed or errors or lost))


def main() -> int:
    """Run the load on a copy of a library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Site({"page": _article}) as site:
        library = Path(folder) / "library.db"
        if asked.library:
            shutil.copyfile(asked.library, library)
        else:
            fill_new(library, 10_000)
        flags = ("--workers", str(asked.workers), "--log-level", "warning")
        with served(library, *flags, allow_hosts="127.0.0.1", per_host_delay="0", render="never", user=USER) as server:
            return run(server, site, library, asked)


if __name__ == "__main__":
    sys.exit(main())
