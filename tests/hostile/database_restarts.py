"""PostgreSQL restarts under three workers, a crawl and a server: all go on, and nothing is lost or doubled (Q4).

`python -m tests.hostile.database_restarts [--full]`: 20 restarts instead of 2, as in a crash (`immediate`) and as in an update
(`fast`), each as soon as the workers, the crawl and the server have done something since the last one. After every tenth stop, the
database stays away until the server refuses requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO

import httpx2 as httpx

from pagekeep import clock
from pagekeep.store import open_store
from tests.hostile.store_places import all_items
from tests.site.fixtures import article
from tests.site.maze import paragraphs, show
from tests.site.server import Reply, Request, Site
from tests.store.making import Server, postgres_server

USER = "local"
WORKERS = 3
PAGES_PER_RESTART = 30
"""Pages of the crawl, and jobs, that there are for each restart: the site answers no others before it."""
PATIENCE = 120.0
"""Seconds after which a state that does not come is a fault."""


class Process:
    """A command with its output in a folder."""

    def __init__(self, folder: Path, name: str, *arguments: str) -> None:
        self.name = name
        self._folder = folder
        environ = {
            **os.environ,
            "PAGEKEEP_ALLOW_HOSTS": "127.0.0.0/8",
            "PAGEKEEP_PER_HOST_DELAY": "0",
            "PAGEKEEP_CRAWL_DELAY": "0",
            "PAGEKEEP_RENDER": "never",
            "PAGEKEEP_LOG_LEVEL": "error",
        }
        with self._file("out") as out, self._file("err") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pagekeep", *arguments],
                stdout=out,
                stderr=err,
                env=environ,
                start_new_session=True,
            )

    def _file(self, kind: str) -> IO[bytes]:
        return (self._folder / f"{self.name}.{kind}").open("wb")

    def read(self, kind: str) -> str:
        return (self._folder / f"{self.name}.{kind}").read_text("utf-8")

    @property
    def ended(self) -> str | None:
        """How it ended, unless it runs."""
        code = self.process.poll()
        return None if code is None else f"{self.name} ended with {code}: {self.read('err')[-600:]}"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Docs(Site):
    """Pages for the jobs, and a site to crawl whose first page links to all others; `open` of them answer."""

    open = 0

    def __init__(self, jobs: int, pages: int) -> None:
        links = [f"/docs/p{number}" for number in range(pages)]

        async def answer(request: Request, reply: Reply) -> None:
            await asyncio.sleep(0.05)
            while request.path.startswith("/docs/p") and int(request.path[7:]) >= self.open:
                await asyncio.sleep(0.05)
            await reply.send(show(request.path, links if request.path == "/docs/" else [], paragraphs(request.path)))

        super().__init__({"docs": answer, **{f"job{number}": answer for number in range(jobs)}})


class Load(Thread):
    """Saves one page after another through the server, and counts what it answers."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self.done = Event()
        self.saved: dict[str, str] = {}
        self.faults: list[str] = []
        self.refused = 0

    def run(self) -> None:
        number = 0
        with self._client:
            while not self.done.is_set():
                number += 1
                url = f"https://load.example/{number}"
                answer = self._client.post("/api/v1/saves", json={"url": url, "html": article(40)})
                if answer.status_code in (200, 201):
                    self.saved[url] = answer.json()["item"]["id"]
                    if answer.status_code == 200:
                        self.faults.append(f"{url} was answered as known at its first save")
                elif answer.status_code == 503 and "retry-after" in answer.headers:
                    self.refused += 1
                    time.sleep(0.2)
                else:
                    self.faults.append(f"the server answered {answer.status_code}: {answer.text[:200]}")
                time.sleep(0.05)


def wait_until(reached: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if reached():
            return True
        time.sleep(0.1)
    return reached()


def attack(server: Server, restarts: int, folder: Path) -> list[str]:
    """Restart the database while all are at work; return the faults."""
    count = PAGES_PER_RESTART * restarts
    with Docs(count, count) as site:
        urls = [site.url(f"/job{number}") for number in range(count)]
        where = ("--library", server.shared)
        out = folder / "docs.jsonl"
        workers = [Process(folder, f"work{n}", "work", "--at-a-time", "2", "--json", *where) for n in range(WORKERS)]
        crawl = Process(folder, "crawl", "crawl", site.url("/docs/"), "--out", "jsonl", str(out), "--json", *where)
        serve = Process(folder, "serve", "serve", "--port", "0", "--json", *where)
        everyone = [*workers, crawl, serve]
        wait_until(lambda: bool(serve.read("out").strip()) or serve.ended is not None)
        load = Load(httpx.URL(json.loads(serve.read("out"))["address"]).port or 0)
        load.start()
        try:
            faults = _restart(server, restarts, site, urls, everyone, load)
            if not faults:
                wait_until(lambda: _done(server) >= count or any(one.ended for one in workers))
                wait_until(lambda: crawl.process.poll() is not None)
                saved = len(load.saved)
                wait_until(lambda: len(load.saved) > saved)
        finally:
            load.done.set()
            load.join()
            faults_of_processes = [one.ended for one in (*workers, serve) if one.ended]
            code = crawl.process.poll()
            for process in everyone:
                process.stop()
        faults += faults_of_processes + load.faults
        if code != 0:
            faults.append(f"the crawl ended with {code}: {crawl.read('err')[-600:]}")
        return (
            faults
            + _job_faults(server, urls, workers)
            + _crawl_faults(site, out, count)
            + _load_faults(server, load)
            + _report_faults(workers, restarts)
        )


def _restart(
    server: Server, restarts: int, site: Docs, urls: list[str], processes: list[Process], load: Load
) -> list[str]:
    """Restart the database again and again, each time when workers, crawl and server have done something with what is new."""
    for number in range(restarts):
        new = slice(number * PAGES_PER_RESTART, (number + 1) * PAGES_PER_RESTART)
        done, asked, saved = _done(server), _count_requests(site), len(load.saved)
        with closing(open_store(server.shared, USER)) as library:
            library.jobs.add_many([(url, url) for url in urls[new]], {}, clock.now())
        site.open = new.stop

        def all_worked(done: int = done, asked: int = asked, saved: int = saved) -> bool:
            return _done(server) > done + 2 and _count_requests(site) > asked + 2 and len(load.saved) > saved + 2

        if not wait_until(all_worked):
            state = f"{_done(server)} jobs, {_count_requests(site)} pages, {len(load.saved)} saves"
            return [f"not all go on after {number} restarts: {state}; {[one.ended for one in processes if one.ended]}"]
        if number % 10 == 1:  # away until requests are refused, so longer than anything waits at once
            server.control("stop", "-m", "fast")
            refused = load.refused
            if not wait_until(lambda refused=refused: load.refused > refused):  # type: ignore[misc]
                return ["the server answered nothing while the database was away"]
            server.control("start")
        else:
            server.control("restart", "-m", ("immediate", "fast")[number % 4 // 2])
    return []


def _count_requests(site: Docs) -> int:
    return sum(request.path.startswith("/docs/p") for request in list(site.requests))


def _done(server: Server) -> int:
    import psycopg

    with suppress(psycopg.Error), psycopg.connect(server.owner) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM pagekeep.jobs WHERE state = 'done'").fetchall()[0][0])
    return 0


def _job_faults(server: Server, urls: list[str], workers: list[Process]) -> list[str]:
    with closing(open_store(server.shared, USER)) as library:
        items = Counter(item.url for item in all_items(library))
        states = Counter(job.state for job in library.jobs.list(limit=1_000_000) if job.url_full in set(urls))
        faults = library.check()
    lines = [
        json.loads(line) for worker in workers for line in worker.read("out").splitlines() if line.startswith('{"')
    ]
    reported = Counter(line["job"]["url"] for line in lines if line.get("job") and line["success"])
    if states != Counter(done=len(urls)):
        faults.append(f"of {len(urls)} jobs: {dict(states)}")
    if wrong := [url for url in urls if items[url] != 1]:
        faults.append(f"{len(wrong)} pages of jobs are not there once: {wrong[:3]}")
    if wrong := [url for url in urls if reported[url] > 1]:
        faults.append(f"{len(wrong)} jobs were reported as done twice: {wrong[:3]}")
    return faults


def _crawl_faults(site: Docs, out: Path, pages: int) -> list[str]:
    if not out.exists():
        return ["the crawl wrote nothing"]
    found = Counter(json.loads(line)["url"] for line in out.read_text("utf-8").splitlines())
    wanted = {site.url("/docs/"), *(site.url(f"/docs/p{number}") for number in range(pages))}
    faults = [] if set(found) == wanted else [f"the crawl has {len(found)} of {len(wanted)} pages"]
    return faults + [f"{url} is there {number} times" for url, number in found.items() if number > 1]


def _load_faults(server: Server, load: Load) -> list[str]:
    with closing(open_store(server.shared, USER)) as library:
        items = {item.url: item.id for item in all_items(library)}
    lost = [url for url, key in load.saved.items() if items.get(url) != key]
    return [f"{len(lost)} of {len(load.saved)} acknowledged saves are lost: {lost[:3]}"] if lost else []


def _report_faults(workers: list[Process], restarts: int) -> list[str]:
    """Each worker reports a lost connection once, and its return once."""
    faults = []
    for worker in workers:
        lost, back = (worker.read("err").count(word) for word in ("connection to the database", "answers again"))
        if lost != back or lost > restarts:
            faults.append(f"{worker.name} reported {lost} losses and {back} returns in {restarts} restarts")
    if not any("answers again" in worker.read("err") for worker in workers):
        faults.append("no worker reported the loss of its connection")
    return faults


def run(restarts: int) -> list[str]:
    """Attack a new server."""
    with postgres_server() as server, tempfile.TemporaryDirectory() as folder:
        return attack(server, restarts, Path(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="20 restarts instead of 2")
    number = 20 if parser.parse_args().full else 2
    began = time.monotonic()
    wrong = run(number)
    print(f"{number} restarts in {time.monotonic() - began:.0f} s, faults: {wrong or 'none'}")
    sys.exit(bool(wrong))
