"""Servers and workers are killed under load: no acknowledged save, tag or job is lost or doubled (J6).

`python -m tests.hostile.server_kill [--kills 30] [--jobs 500] [--job-kills 45] [--engine sqlite|postgres]`: first one server that
gets saves and is killed again and again, then a queue for two servers and three workers that are killed at random.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread

import httpx2 as httpx

from pagekeep import clock
from pagekeep.library.queue import LEASE_SECONDS
from pagekeep.store import open_store
from tests.hostile.store_places import all_items, empty_sqlite
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site
from tests.store.making import postgres_server

USER = "local"
ENVIRON = {
    **os.environ,
    "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
    "PAGEKEEP_PER_HOST_DELAY": "0",
    "PAGEKEEP_RENDER": "never",
    "PAGEKEEP_LOG_LEVEL": "error",
}


class Process:
    """A server or worker in its own process group."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "pagekeep", *self._arguments]
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=ENVIRON, start_new_session=True)

    def kill(self) -> None:
        """Kill it and its children, as a power cut does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as found:
        return int(found.getsockname()[1])


def wait_until(reached: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if reached():
            return True
        time.sleep(0.3)
    return reached()


def _answers(port: int) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200
    return False


def kill_server(where: str, kills: int) -> tuple[int, list[str]]:
    """Save and tag by the API while the server is killed; return how many saves were acknowledged, and the faults."""
    chance, port, done = random.Random(30), free_port(), Event()
    saved: dict[str, str] = {}
    tagged: dict[str, str] = {}
    serve = Process("serve", "--library", where, "--port", str(port))

    def load(worker: int) -> None:
        page = article(60)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            number = 0
            while not done.is_set():
                number += 1
                url = f"https://kill{worker}.example/{number}"
                with suppress(httpx.HTTPError, KeyError, ValueError):
                    answer = client.post("/api/v1/saves", json={"url": url, "html": page})
                    if answer.status_code in (200, 201):
                        saved[url] = answer.json()["item"]["id"]
                        answer = client.patch(f"/api/v1/items/{saved[url]}", json={"tags": [f"tag{number}"]})
                        if answer.status_code == 200:
                            tagged[url] = f"tag{number}"
                        continue
                time.sleep(0.05)

    threads = [Thread(target=load, args=(worker,)) for worker in range(4)]
    faults = [] if wait_until(lambda: _answers(port), 60) else ["the server did not start"]
    for thread in threads:
        thread.start()
    for number in range(kills):
        before = len(saved)
        wait_until(lambda before=before: len(saved) > before + 2, 15)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.5))
        serve.kill()
        serve.start()
        if not wait_until(lambda: _answers(port), 60):
            faults.append(f"the server did not start after kill {number}")
            break
    done.set()
    for thread in threads:
        thread.join()
    serve.kill()
    return len(saved), faults + _saved_faults(where, saved, tagged)


def _saved_faults(where: str, saved: dict[str, str], tagged: dict[str, str]) -> list[str]:
    with closing(open_store(where, USER)) as library:
        items = all_items(library)
        faults = library.check()
    by_url = {item.url: item for item in items}
    lost = [url for url, item_id in saved.items() if url not in by_url or by_url[url].id != item_id]
    untagged = [url for url, tag in tagged.items() if url in by_url and tag not in by_url[url].metadata.tags]
    empty = [item.url for item in items if "kettle" not in item.content]
    twice = len(items) - len(by_url)
    counts = {"lost": len(lost), "without their tag": len(untagged), "twice": twice, "without text": len(empty)}
    return faults + [f"{count} saves are {what}" for what, count in counts.items() if count]


@contextmanager
def site(pages: int) -> Iterator[Site]:
    async def page(request: Request, reply: Reply) -> None:
        await reply.send(article(60, f"Page {request.path}").encode())

    with Site({f"page{number}": page for number in range(pages)}) as running:
        yield running


def kill_workers(where: str, jobs: int, kills: int) -> list[str]:
    """Queue jobs, kill servers and workers while they run them, and wait for the rest; return the faults."""
    chance = random.Random(45)
    with site(jobs) as shore:
        urls = [shore.url(f"/page{number}") for number in range(jobs)]
        with closing(open_store(where, USER)) as library:
            library.jobs.add_many([(url, url) for url in urls], {}, clock.now())
        processes = [Process("serve", "--library", where, "--port", str(free_port())) for _ in range(2)]
        processes += [Process("work", "--library", where, "--at-a-time", "2") for _ in range(3)]
        try:
            for _ in range(kills):
                time.sleep(chance.uniform(0.3, 1.5))
                killed = chance.choice(processes)
                killed.kill()
                killed.start()
            ended = wait_until(lambda: _states(where)["done"] == jobs, LEASE_SECONDS * 3)
        finally:
            for process in processes:
                process.kill()
    states = _states(where)
    with closing(open_store(where, USER)) as library:
        found = Counter(item.url for item in all_items(library) if item.url in set(urls))
        faults = library.check()
    if not ended or states != Counter(done=jobs):
        faults.append(f"jobs: {dict(states)} of {jobs}")
    if len(found) != jobs or max(found.values()) > 1:
        faults.append(f"{len(found)} of {jobs} pages, {sum(found.values()) - len(found)} twice")
    return faults


def _states(where: str) -> Counter[str]:
    with closing(open_store(where, USER)) as library:
        return Counter(job.state for job in library.jobs.list(limit=1_000_000))


def attack(where: str, kills: int, jobs: int, job_kills: int) -> list[str]:
    """Run both attacks on an empty library."""
    began = time.monotonic()
    saves, faults = kill_server(where, kills)
    print(f"  {kills} kills of a server, {saves} saves acknowledged, {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    faults += kill_workers(where, jobs, job_kills)
    print(f"  {jobs} jobs, {job_kills} kills of 2 servers and 3 workers, {time.monotonic() - began:.0f} s", flush=True)
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--job-kills", type=int, default=45)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append")
    chosen = parser.parse_args()
    failed = False
    for engine in chosen.engine or ("sqlite", "postgres"):
        print(engine, flush=True)
        if engine == "sqlite":
            with empty_sqlite() as place:
                wrong = attack(place, chosen.kills, chosen.jobs, chosen.job_kills)
        else:
            with postgres_server() as server:
                wrong = attack(server.shared, chosen.kills, chosen.jobs, chosen.job_kills)
        print(f"{engine}: faults: {wrong or 'none'}", flush=True)
        failed = failed or bool(wrong)
    sys.exit(failed)
