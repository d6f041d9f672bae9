"""A6: clients that take their time. Others must not notice.

    python -m tests.hostile.server_slow 300      # this many slow clients

Some send the head of a request a byte at a time, some a body that does not end, some ask for much and do not read it, some watch
a job and say nothing. Meanwhile others ask as usual; all must be answered, about as quickly as without the slow ones.
"""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.hostile.server import served

ASKED: Final = 200
"""Requests of a client that does not dawdle."""
ARTICLE: Final = (
    "<title>The keeper</title><article><h1>The keeper</h1>" + "<p>He counts the ships at dawn.</p>" * 40_000
)


def ask(host: str, port: int, times: int) -> list[float]:
    """Seconds for each of this many requests; an assertion fails for an answer that is not 200."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", "/api/v1/items?limit=5")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
        connection.close()
        found.append(time.perf_counter() - began)
    return found


class Dawdler(threading.Thread):
    """A slow client of one of four kinds."""

    def __init__(self, host: str, port: int, kind: int, item: str, ending: threading.Event) -> None:
        super().__init__(daemon=True)
        self._socket = socket.create_connection((host, port), timeout=60)
        self._ending = ending
        name = f"Host: {host}:{port}\r\n".encode()
        self._begin, self._drip = (
            (b"GET /api/v1/items HTTP/1.1\r\n" + name, b"x-slow: 1\r\n"),
            (
                b"POST /api/v1/saves HTTP/1.1\r\n"
                + name
                + b"Content-Type: application/json\r\nContent-Length: 9999999\r\n\r\n",
                b" ",
            ),
            (f"GET /api/v1/items/{item} HTTP/1.1\r\n".encode() + name + b"\r\n", b""),
            (b"GET /r/http://192.0.2.1/ HTTP/1.1\r\n" + name + b"Accept: text/event-stream\r\n\r\n", b""),
        )[kind % 4]

    def run(self) -> None:
        try:
            self._socket.sendall(self._begin)
            while not self._ending.wait(0.5):
                if self._drip:
                    self._socket.sendall(self._drip)
        except OSError:  # shown the door, as may be
            pass
        finally:
            self._socket.close()


def compare(folder: Path, slow: int) -> tuple[float, float]:
    """Median seconds of a request without the slow clients, and among them."""
    with served(folder / "library.db", render="never") as server:
        address = urlsplit(server.address)
        host, port = str(address.hostname), int(address.port or 0)
        item = _saved(host, port)
        alone = statistics.median(ask(host, port, ASKED))
        ending = threading.Event()
        dawdlers = [Dawdler(host, port, number, item, ending) for number in range(slow)]
        for dawdler in dawdlers:
            dawdler.start()
        time.sleep(1)
        among = statistics.median(ask(host, port, ASKED))
        ending.set()
        for dawdler in dawdlers:
            dawdler.join()
    return alone, among


def _saved(host: str, port: int) -> str:
    body = json.dumps({"url": "https://example.com/a", "html": ARTICLE})
    with closing(http.client.HTTPConnection(host, port, timeout=60)) as connection:
        connection.request("POST", "/api/v1/saves", body, {"Content-Type": "application/json"})
        return str(json.load(connection.getresponse())["item"]["id"])


def main() -> None:
    slow = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        alone, among = compare(Path(folder), slow)
    print(
        f"{1000 * alone:.1f} ms a request, {1000 * among:.1f} ms among {slow} slow clients: {among / alone:.1f} times."
    )
    assert among < 5 * alone, "slow clients slow others"


if __name__ == "__main__":
    main()
