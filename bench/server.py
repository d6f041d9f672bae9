"""Measure the server with many users and a large library, as ratios.

`python bench/server.py [--items 100000] [--users 20] [--seconds 30] [--requests 20000] [--workers 1]`. Goals: with 20 users
who list, search and read, with a pause of about a second between two pages, the 95th percentile of response times is at most
5 times the median of a single user, for each of the three actions, and there are no errors; saving pages in the background
does not double that; memory grows at most by a factor of 1.2 over 20,000 requests.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import PAIRS, USER, fill
from pagekeep.store import open_store
from tests.hostile.server import Served, served
from tests.site.server import Reply, Request, Site

KINDS = ("list", "search", "read")
ROUNDS = 5
PAUSE = 1.0
"""Seconds a person looks at a page, about."""
SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
ARTICLE = f"<title>The keeper</title><article><h1>The keeper</h1>{f'<p>{SENTENCE * 3}</p>' * 12}</article>"


def fill_new(path: Path, count: int) -> None:
    """Fill a library with this many pages."""
    with closing(open_store(path, USER)) as library:
        fill(library, count)


class Person(threading.Thread):
    """List, search and read pages until stopped."""

    def __init__(self, address: str, number: int, pause: float, until: float) -> None:
        super().__init__(daemon=True)
        self._where = urlsplit(address)
        self._chance = random.Random(number)
        self._pause = pause
        self._until = until
        self._known: list[str] = []
        self.waits: list[tuple[str, float]] = []
        """What was asked for, and the seconds until the answer was there."""
        self.errors = 0

    def run(self) -> None:
        """Send one request after another on one connection, as a browser does, after a random pause."""
        time.sleep(self._pause * self._chance.random())
        with closing(http.client.HTTPConnection(str(self._where.hostname), self._where.port, timeout=60)) as line:
            while time.perf_counter() < self._until:
                kind, path = self._next()
                began = time.perf_counter()
                line.request("GET", path)
                answer = line.getresponse()
                body = answer.read()
                self.waits.append((kind, time.perf_counter() - began))
                self.errors += answer.status != 200
                if kind == "list" and answer.status == 200:
                    self._known = [item["id"] for item in json.loads(body)["items"]]
                time.sleep(self._pause * self._chance.uniform(0.5, 1.5))

    def _next(self) -> tuple[str, str]:
        kind = self._chance.choice(["list", "search", "read"])
        if kind == "search":
            return kind, f"/api/v1/search?q={quote(' '.join(self._chance.choice(PAIRS)))}"
        if kind == "read" and self._known:
            return kind, f"/api/v1/items/{self._chance.choice(self._known)}"
        return "list", f"/api/v1/items?domain=site{self._chance.randrange(500)}.example.com&limit=50"


def ask(server: Served, people: int, seconds: float, pause: float = PAUSE) -> list[Person]:
    """Run this many users for this long."""
    until = time.perf_counter() + seconds
    asking = [Person(server.address, number, pause, until) for number in range(people)]
    for person in asking:
        person.start()
    for person in asking:
        person.join()
    return asking


def waits(people: list[Person], wanted: str = "") -> list[float]:
    """Return the response times, of all actions or of one."""
    return [seconds for person in people for kind, seconds in person.waits if kind == wanted or not wanted]


def late(people: list[Person], kind: str) -> float:
    """Return the 95th percentile of the response times in seconds."""
    return quantiles(waits(people, kind), n=20)[-1]


@contextmanager
def saving(server: Served, site: Site, each: float) -> Iterator[list[int]]:
    """Queue pages at this interval in seconds, and return the status codes of the responses."""
    ending, statuses = threading.Event(), list[int]()

    def run() -> None:
        where = urlsplit(server.address)
        number = 0
        while not ending.wait(each):
            number += 1
            with closing(http.client.HTTPConnection(str(where.hostname), where.port, timeout=60)) as line:
                body = json.dumps({"url": site.url(f"/page/{number}")})
                line.request("POST", "/api/v1/saves?wait=false", body, {"Content-Type": "application/json"})
                statuses.append(line.getresponse().status)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield statuses
    finally:
        ending.set()
        thread.join()


def memory(server: Served) -> int:
    """Return the server's memory in kilobytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def grown(server: Served, requests: int) -> tuple[int, int]:
    """Return the memory after a tenth of this many requests, and after all."""
    done, early = 0, 0
    while done < requests:
        done += len(waits(ask(server, 4, 5, pause=0)))
        early = early or (memory(server) if done >= requests // 10 else 0)
    return early, memory(server)


async def _article(_request: Request, reply: Reply) -> None:
    await reply.send(ARTICLE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--library", type=Path, help="Use this one, and fill it only if it is not there.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Site({"page": _article}) as site:
        path = asked.library or Path(folder) / "library.db"
        if not path.exists():
            fill_new(path, asked.items)
        flags = ("--workers", str(asked.workers), "--log-level", "warning")
        with served(path, *flags, allow_hosts="127.0.0.1", per_host_delay="0", render="never", user=USER) as server:
            ask(server, 1, 3, pause=0)
            return report(server, site, asked)


def report(server: Served, site: Site, asked: argparse.Namespace) -> int:
    """Print the ratios; return 1 when a goal is missed."""
    alone, together, beside = list[Person](), list[Person](), list[Person]()
    queued = 0
    for _ in range(ROUNDS):  # by turns: what else the machine does then falls on all alike
        alone += ask(server, 1, asked.seconds / ROUNDS, pause=0.1)
        together += ask(server, asked.users, asked.seconds / ROUNDS)
        with saving(server, site, 0.5) as statuses:
            beside += ask(server, asked.users, asked.seconds / ROUNDS)
        queued += statuses.count(202)
    for kind in KINDS:
        times = median(waits(alone, kind)), late(together, kind), late(beside, kind)
        print(f"{kind}: {', '.join(f'{1000 * seconds:.1f} ms' for seconds in times)} (alone, together, beside saves)")
    early, end = grown(server, asked.requests)
    errors = sum(person.errors for person in (*alone, *together, *beside))
    aims = [
        *(
            (
                f"{kind} among {asked.users} people, against alone",
                late(together, kind) / median(waits(alone, kind)),
                5.0,
            )
            for kind in KINDS
        ),
        *(
            (f"{kind} while pages are saved, against without", late(beside, kind) / late(together, kind), 2.0)
            for kind in KINDS
        ),
        (f"memory after {asked.requests} requests, against after a tenth", end / early, 1.2),
        ("errors", errors, 0),
    ]
    for name, found, most in aims:
        print(f"{name}: {found:.2f} (at most {most:g})")
    print(f"{len(waits(together))} requests, {queued} saves queued meanwhile.")
    return int(any(found > most for _, found, most in aims))


if __name__ == "__main__":
    sys.exit(main())
