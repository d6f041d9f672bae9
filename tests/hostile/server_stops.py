"""Servers and `pagekeep save` are stopped at random moments while they save: every address that was sent is kept (Q5).

`python -m tests.hostile.server_stops [--full] [--engine sqlite|postgres]`: 40 stops instead of 4 on each engine. In each, a server gets
addresses by every way of saving, from pages that take a moment or longer than a stop waits, and SIGTERM at a random moment; beside
it `pagekeep save` gets SIGTERM, SIGINT or SIGKILL. No answer may be 500. At the end, workers save what is left in the queue.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from threading import Event, Thread
from typing import Any, Final

import httpx2 as httpx

from pagekeep.identity import accounts
from pagekeep.library.normal_url import normalise
from pagekeep.store import LOCAL_USER, open_accounts, open_store
from tests.hostile.database_restarts import wait_until
from tests.hostile.store_places import all_items, empty_sqlite
from tests.site.maze import paragraphs, show
from tests.site.server import Reply, Request, Site
from tests.store.making import postgres_server

ENVIRON = {
    **os.environ,
    "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
    "PAGEKEEP_PER_HOST_DELAY": "0",
    "PAGEKEEP_RENDER": "never",
    "PAGEKEEP_LOG_LEVEL": "error",
}
MAX_SECONDS: Final = 2.0
"""Until the stop, from the first request on."""


class Slow(Site):
    """Pages that take between nothing and six seconds, as their address says; at the end, none takes any time."""

    hurry = False

    def __init__(self) -> None:
        async def answer(request: Request, reply: Reply) -> None:
            until = time.monotonic() + float(request.path.split("/")[2].split("-")[0])
            while time.monotonic() < until and not self.hurry:
                await asyncio.sleep(0.05)
            await reply.send(show(request.path, [], paragraphs(request.path)))

        super().__init__({"slow": answer})


class Ways:
    """The ways to save an address through a server."""

    def __init__(self, port: int | None, token: str) -> None:
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self._token = token

    def api(self, url: str) -> Any:
        return self._client.post("/api/v1/saves", json={"url": url})

    def keyed(self, url: str) -> Any:
        return self._client.post("/api/v1/saves", json={"url": url}, headers={"Idempotency-Key": url})

    def sent(self, url: str) -> Any:
        return self._client.post("/api/v1/saves", json={"url": url, "html": show(url, [], paragraphs(url, 400))})

    def queued(self, url: str) -> Any:
        return self._client.post("/api/v1/saves?wait=false", json={"url": url})

    def form(self, url: str) -> Any:
        return self._client.post("/add", data={"urls": url}, headers={"accept": "text/html"})

    def wallabag(self, url: str) -> Any:
        return self._client.post("/wallabag/api/entries.json", json={"url": url})

    def linkding(self, url: str) -> Any:
        return self._client.post("/linkding/api/bookmarks/", json={"url": url})

    def mcp(self, url: str) -> Any:
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "save", "arguments": {"url": url}},
        }
        headers = {"authorization": f"Bearer {self._token}", "accept": "application/json, text/event-stream"}
        return self._client.post("/mcp/", json=call, headers=headers)

    def close(self) -> None:
        self._client.close()


ALL_WAYS: Final[tuple[Callable[[Ways, str], Any], ...]] = (
    *(Ways.api, Ways.keyed, Ways.sent, Ways.queued, Ways.form, Ways.wallabag, Ways.linkding, Ways.mcp),
)


class Round:
    """One server, from its start until it was stopped."""

    def __init__(self, where: str, site: Slow, token: str, number: int, chance: random.Random) -> None:
        self._where, self._site, self._token, self._number, self._chance = where, site, token, number, chance
        self.sent: list[str] = []
        """Addresses that a server answered, or fetched."""
        self.faults: list[str] = []
        self.cut = 0
        """Saves that the stop ended."""

    def run(self) -> None:
        command = [sys.executable, "-m", "pagekeep", "serve", "--port", "0", "--json", "--library", self._where]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRON) as server:
            assert server.stdout is not None
            lines = iter(server.stdout.readline, b"}\n")
            port = httpx.URL(json.loads(b"".join(lines) + b"}")["address"]).port
            stopped = Event()
            clients = [Thread(target=self._save, args=(way, port, stopped)) for way in ALL_WAYS]
            command_line = Thread(target=self._save_by_command)
            for thread in (*clients, command_line):
                thread.start()
            before = len(self._site.requests)
            wait_until(lambda: len(self._site.requests) > before)
            time.sleep(self._chance.uniform(0, MAX_SECONDS))
            stopped.set()
            server.send_signal(signal.SIGTERM)
            for thread in (*clients, command_line):
                thread.join()
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                self.faults.append("the server did not stop")
                server.kill()

    def _save(self, way: Callable[[Ways, str], Any], port: int | None, stopped: Event) -> None:
        chance = random.Random(f"{way.__name__} {self._number}")
        with closing(Ways(port, self._token)) as ways:
            for number in range(1_000):
                if stopped.is_set():
                    return
                seconds = chance.choice((0, 0, 0.2, 1, 6))
                url = self._site.url(f"/slow/{seconds}-{self._number}-{way.__name__}-{number}")
                try:
                    answer = way(ways, url)
                except httpx.HTTPError:  # it was no longer accepted, or the answer was cut
                    answer = None
                # The first request of an assistant may be cut before its tools are loaded; its answer says "send it again".
                reported = answer is not None and not (way is Ways.mcp and answer.status_code == 503)
                if reported or self._site.asked(httpx.URL(url).path):
                    self.sent.append(url)
                if answer is not None:
                    self._check(way.__name__, answer)

    def _check(self, way: str, answer: Any) -> None:
        self.cut += answer.status_code == 503
        if answer.status_code not in (200, 201, 202, 303, 503):
            self.faults.append(f"{way}: {answer.status_code} {answer.text[:200]}")
        elif answer.status_code == 503 and "retry-after" not in answer.headers:
            self.faults.append(f"{way}: 503 without Retry-After: {answer.text[:200]}")

    def _save_by_command(self) -> None:
        url = self._site.url(f"/slow/6-{self._number}-command")
        command = [sys.executable, "-m", "pagekeep", "save", url, "--library", self._where]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=ENVIRON) as process:
            if wait_until(lambda: self._site.asked(httpx.URL(url).path) > 0):
                self.sent.append(url)
            process.send_signal((signal.SIGTERM, signal.SIGINT, signal.SIGKILL)[self._number % 3])


def attack(where: str, stops: int) -> list[str]:
    """Stop servers on an empty library; return the faults."""
    with closing(open_accounts(where)) as known:
        token = accounts.add_token(known, LOCAL_USER, "assistant", ("read", "write")).secret
    faults: list[str] = []
    sent: list[str] = []
    cut, chance = 0, random.Random(5)
    with Slow() as site:
        for number in range(stops):
            one = Round(where, site, token, number, chance)
            one.run()
            faults += [f"stop {number}: {fault}" for fault in one.faults]
            faults += [f"stop {number}: {url} is lost" for url in _missing(where, one.sent)]
            sent += one.sent
            cut += one.cut
        site.hurry = True
        faults += _finish(where, sent)
    if not cut:
        faults.append("no save was cut, so nothing was tried")
    print(f"  {len(sent)} addresses, {cut} cut by {stops} stops", flush=True)
    return faults


def _missing(where: str, sent: list[str], *, pending: bool = True) -> list[str]:
    """Return the addresses that are neither those of items nor in the queue."""
    with closing(open_store(where, LOCAL_USER)) as library:
        there = {item.url for item in all_items(library)}
        if pending:
            there |= {job.url for state in ("queued", "running") for job in library.jobs.list(state, 1_000_000)}
    return [url for url in sent if normalise(url) not in there]


def _finish(where: str, sent: list[str]) -> list[str]:
    """Let a worker save what is left; what was killed waits until its lease has ended, so the test makes it due."""
    with closing(open_store(where, LOCAL_USER)) as library:
        library._engine.write(lambda tx: tx.run("UPDATE jobs SET due_at = run_after WHERE state = 'running'"))
    command = [sys.executable, "-m", "pagekeep", "work", "--until-empty", "--library", where]
    done = subprocess.run(command, env=ENVIRON, capture_output=True, text=True)
    faults = [f"the worker ended with {done.returncode}: {done.stderr[-300:]}"] if done.returncode else []
    with closing(open_store(where, LOCAL_USER)) as library:
        faults += library.check()
        left = [job.url for state in ("queued", "running", "dead") for job in library.jobs.list(state, 1_000_000)]
    faults += [f"{url} is still in the queue" for url in left]
    return faults + [f"{url} was not saved at the end" for url in _missing(where, sent, pending=False)]


def run(engine: str, stops: int) -> list[str]:
    """Attack an empty library on an engine."""
    if engine == "sqlite":
        with empty_sqlite() as where:
            return attack(where, stops)
    with postgres_server() as server:
        return attack(server.shared, stops)


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="40 stops instead of 4")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append")
    chosen = parser.parse_args()
    stops, failed = 40 if chosen.full else 4, False
    for engine in chosen.engine or ("sqlite", "postgres"):
        began = time.monotonic()
        faults = run(engine, stops)
        print(f"{engine}: {stops} stops in {time.monotonic() - began:.0f} s, faults: {faults or 'none'}", flush=True)
        failed = failed or bool(faults)
    sys.exit(failed)


if __name__ == "__main__":
    main()
