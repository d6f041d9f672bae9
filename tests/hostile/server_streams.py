"""P3: a read-only token opens event streams without end, from many addresses and through a trusted proxy. Others go on.

python -m tests.hostile.server_streams 1000      # streams
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from pagekeep import clock
from pagekeep.doors.http.streams import MAX_OF_USER
from pagekeep.identity import accounts as app
from pagekeep.store import open_accounts, open_store
from tests.hostile.server import served

PASSWORD: Final = "nine stoves and a kettle"
ADDRESSES: Final = 50
"""Of the loopback network, so that no address has more connections than one may have."""


def waiting_job(library: Path, user_id: str) -> str:
    """A job that another worker has for an hour, so that its stream does not end."""
    with closing(open_store(library, user_id, workers=True)) as store:
        store.jobs.add("https://example.com/", "https://example.com/", {}, clock.now())
        job = store.jobs.lease("another", clock.now(), clock.add_seconds(clock.now(), 3600))
        assert job is not None
        return job.id


async def open_streams(host: str, port: int, job: str, token: str, count: int, *, proxied: bool) -> list[str]:
    """Open that many and keep them; return the first line of each answer, nothing for a connection that was ended."""

    async def one(number: int) -> tuple[str, asyncio.StreamWriter | None]:
        place = ("127.0.0.1", 0) if proxied else (f"127.0.1.{1 + number % ADDRESSES}", 0)
        named = f"X-Forwarded-For: 203.0.113.{number % 200}\r\n" if proxied else ""
        try:
            reader, writer = await asyncio.open_connection(host, port, local_addr=place)
            head = f"GET /api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n{named}\r\n"
            writer.write(head.encode())
            line = await asyncio.wait_for(reader.readline(), 60)
        except (OSError, TimeoutError):
            return "", None
        return line.decode("latin-1").strip(), writer

    opened = await asyncio.gather(*(one(number) for number in range(count)))
    try:
        await asyncio.to_thread(check_others, host, port)
    finally:
        for _, writer in opened:
            if writer is not None:
                writer.close()
    return [line for line, _ in opened]


def check_others(host: str, port: int) -> None:
    """Another user signs in, lists and saves; each answer must be right."""
    form = urlencode({"name": "other", "password": PASSWORD})
    with closing(HTTPConnection(host, port, timeout=60)) as connection:
        connection.request("POST", "/sign-in", form, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 303, answer.status
        cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        connection.request("GET", "/", headers={"Cookie": cookie})
        answer = connection.getresponse()
        assert (answer.status, b"Inbox" in answer.read()) == (200, True)


def run(folder: Path, count: int, *, proxied: bool = False) -> Counter[str]:
    """Return how the streams were answered."""
    library = folder / "library.db"
    with closing(open_accounts(str(library))) as accounts:
        attacker, _ = (app.add_user(accounts, name, PASSWORD) for name in ("attacker", "other"))
        token = app.add_token(accounts, attacker.id, "reads", ("read",)).secret
    job = waiting_job(library, attacker.id)
    trusted = {"trusted_proxies": "127.0.0.1"} if proxied else {}
    with served(library, "--shared", render="never", token_requests="0", **trusted) as server:
        address = urlsplit(server.address)
        host, port = str(address.hostname), int(address.port or 0)
        lines = asyncio.run(open_streams(host, port, job, token, count, proxied=proxied))
        check_others(host, port)
    return Counter(line.partition(" ")[2][:3] for line in lines)


def faults_of(answers: Counter[str], count: int) -> list[str]:
    """At most the allowed streams are open, and the rest are refused or were ended; no fault of the server."""
    faults = [f"{answers['200']} streams are open"] if answers["200"] > MAX_OF_USER else []
    faults += [f"{number} answers were {status}" for status, number in answers.items() if status.startswith("5")]
    return faults + ([] if answers["200"] or count == 0 else ["no stream was opened"])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    faults = []
    for proxied in (False, True):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            answers = run(Path(folder), count, proxied=proxied)
        faults += faults_of(answers, count)
        way = "through a proxy" if proxied else f"from {ADDRESSES} addresses"
        print(f"{count} streams {way} in {time.monotonic() - began:.0f} s: {json.dumps(dict(answers))}")
    print("faults:", faults or "none")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
