"""Sign-ins by the hundred, on a real server: few are tried, and others are served meanwhile.

`python -m tests.hostile.server_sign_in 400`. The control takes the throttle away: then all are tried.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

import uvicorn

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.identity import accounts as app
from pagekeep.store import open_accounts

PASSWORD = "nine stoves and a kettle"
AT_A_TIME = 32
SPARE = 4
"""Tries that may be under way when the last one that counts has failed."""


@contextmanager
def running(settings: Settings) -> Iterator[int]:
    """The port of a server."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(settings, processes=1), port=0, log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def ask(port: int, method: str, path: str, body: str = "", **headers: str) -> int:
    """The status."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        kind = {"content-type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body or None, {**kind, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status


def guess(port: int, number: int) -> int:
    return ask(port, "POST", "/sign-in", urlencode({"name": "ada", "password": f"guess {number}"}))


def storm(port: int, guesses: int, token: str) -> tuple[Counter[int], Counter[int]]:
    """Statuses of the guesses, and of a reader's requests meanwhile."""
    over = threading.Event()
    served: Counter[int] = Counter()

    def read() -> None:
        while not over.is_set():
            served[ask(port, "GET", "/api/v1/items", authorization=f"Bearer {token}")] += 1

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            guessed = Counter(pool.map(lambda number: guess(port, number), range(guesses)))
    finally:
        over.set()
        reader.join()
    return guessed, served


def run(guesses: int) -> list[str]:
    """What went wrong, in words; empty when all is well."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(library=str(Path(folder) / "library.db"), shared=True, token_requests=0)
        with closing(open_accounts(settings.library)) as accounts:
            user = app.add_user(accounts, "ada", PASSWORD)
            token = app.add_token(accounts, user.id, "reader").secret
        with running(settings) as port:
            guessed, served = storm(port, guesses, token)
            if guessed[401] > app.MAX_FAILURES_BY_ADDRESS_AND_NAME + SPARE or set(guessed) - {401, 429}:
                faults.append(f"guesses were answered {dict(guessed)}")
            if set(served) != {200}:
                faults.append(f"a reader was answered {dict(served)} meanwhile")
            if ask(port, "POST", "/sign-in", urlencode({"name": "ada", "password": PASSWORD})) != 429:
                faults.append("the right password was taken after all")
            with patch.multiple(app, MAX_FAILURES_BY_ADDRESS_AND_NAME=10**6, MAX_FAILURES_BY_ADDRESS=10**6):
                control = Counter(guess(port, number) for number in range(10))
            if control != {401: 10}:
                faults.append(f"without the throttle guesses were answered {dict(control)}")
        print(json.dumps({"guesses": dict(guessed), "reader": dict(served)}))
    return faults


if __name__ == "__main__":
    logging.getLogger().addHandler(logging.NullHandler())
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    found = run(number)
    print(f"sign-ins: {number} guesses {AT_A_TIME} at a time, {len(found)} faults", *found, sep="\n  ")
    sys.exit(bool(found))
