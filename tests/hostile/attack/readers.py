"""Readers: users who sign in, list, read, search and save, each with a pause between two actions, and notice how long it takes."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from tests.hostile.attack.place import PASSWORD, Reader, prose

ACTIONS: Final = {"sign-in": 1, "list": 3, "read": 3, "search": 2, "save": 2}
"""What readers do, and how often in proportion."""
MAX_SECONDS: Final = 60.0
WARM_UP_THREADS: Final = 4
"""More sign-ins at the same moment than the server accepts would be refused."""


@dataclass
class Seen:
    """What the readers saw in one phase."""

    waits: dict[str, list[float]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: Seen) -> None:
        """Add what was seen in another phase."""
        for action, waits in other.waits.items():
            self.waits[action] += waits
        self.errors += other.errors


class Readers:
    """All readers, each in a thread."""

    def __init__(self, address: str, readers: tuple[Reader, ...], pause: float) -> None:
        self._threads = [_Thread(address, reader, number, pause) for number, reader in enumerate(readers)]

    def warm_up(self) -> None:
        """Let each do everything once, so that the server has loaded all modules and started all workers."""
        with ThreadPoolExecutor(WARM_UP_THREADS) as pool:
            list(pool.map(_Thread.do_all, self._threads))
        for one in self._threads:
            one.seen = Seen()

    def run(self, seconds: float) -> Seen:
        """Let them read for a while."""
        until = time.monotonic() + seconds
        seen = Seen()
        running = [threading.Thread(target=one.run, args=(until,), daemon=True) for one in self._threads]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        for one in self._threads:
            seen.add(one.seen)
            one.seen = Seen()
        return seen


class _Thread:
    def __init__(self, address: str, reader: Reader, number: int, pause: float) -> None:
        where = urlsplit(address)
        self._host, self._port = str(where.hostname), where.port
        self._own = (f"127.0.1.{number + 1}", 0)
        self._reader = reader
        self._chance = random.Random(number)
        self._pause = pause
        self._line: http.client.HTTPConnection | None = None
        self._cookie = ""
        self._saves = 0
        self.seen = Seen()

    def run(self, until: float) -> None:
        time.sleep(self._pause * self._chance.random())
        while time.monotonic() < until:
            self._do(self._chance.choices(list(ACTIONS), list(ACTIONS.values()))[0])
            time.sleep(self._pause * self._chance.uniform(0.5, 1.5))
        self._hang_up()  # the server closes idle connections

    def do_all(self) -> None:
        for action in ACTIONS:
            self._do(action)
        self._expect(200, "GET", f"/items/{self._reader.items[0]}")  # a long one
        self._hang_up()

    def _do(self, action: str) -> None:
        began = time.perf_counter()
        try:
            fault = self._actions()[action]()
        except (OSError, http.client.HTTPException) as error:
            self._hang_up()
            fault = type(error).__name__
        self.seen.waits[action].append(time.perf_counter() - began)
        if fault:
            self.seen.errors[f"{action}: {fault}"] += 1

    def _actions(self) -> dict[str, Callable[[], str]]:
        return {
            "sign-in": self._sign_in,
            "list": lambda: self._expect(200, "GET", "/"),
            "read": lambda: self._expect(200, "GET", f"/items/{self._chance.choice(self._reader.items)}"),
            "search": lambda: self._expect(200, "GET", f"/?q={quote(prose(self._chance, 2)[:-1])}"),
            "save": self._save,
        }

    def _sign_in(self) -> str:
        form = urlencode({"name": self._reader.name, "password": PASSWORD})
        kind = {"content-type": "application/x-www-form-urlencoded"}
        status, headers, _ = self._ask("POST", "/sign-in", form.encode(), kind)
        self._cookie = headers.get("set-cookie", "").partition(";")[0] or self._cookie
        return "" if status == 303 else str(status)

    def _save(self) -> str:
        self._saves += 1
        paragraphs = "".join(f"<p>{text}</p>" for text in prose(self._chance, 500).split("\n\n"))
        url = f"https://saved.example/{self._saves}"
        body = {"url": url, "html": f"<title>Saved {self._saves}</title><article>{paragraphs}</article>"}
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._reader.token}"}
        return self._expect(201, "POST", "/api/v1/saves", json.dumps(body).encode(), headers)

    def _expect(
        self, wanted: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> str:
        status, _, text = self._ask(method, path, body, headers or {"cookie": self._cookie})
        return "" if status == wanted and b"server is busy" not in text else f"{status}"

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        if self._line is None:
            self._line = http.client.HTTPConnection(self._host, self._port, MAX_SECONDS, self._own)
        self._line.request(method, path, body, headers)
        answer = self._line.getresponse()
        text = answer.read()
        if answer.will_close:
            self._hang_up()
        return answer.status, answer.headers, text

    def _hang_up(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.close()
        self._line = None
