"""What polling unchanged feeds costs: 1,000 feeds on loopback, half of which answer 304 and half send the same bytes again.

    python bench/feeds.py [FEEDS]

Prints the CPU seconds of this process, without the server, which runs in another one.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import tempfile
import time
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds import poll, subscriptions
from pagekeep.library.open import open_library
from pagekeep.model import Job

ITEM = "<item><title>Entry {0}</title><guid>https://example.com/{0}</guid><description>{1}</description></item>"
WORDS = "The keeper counts the ships before breakfast and writes the number down. " * 8


def document(number: int) -> bytes:
    items = "".join(ITEM.format(f"{number}-{entry}", WORDS) for entry in range(20))
    return f"<rss version='2.0'><channel><title>Feed {number}</title>{items}</channel></rss>".encode()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer requests by hand: every second feed knows conditional requests."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):  # the client has closed the connection
        while head := await reader.readuntil(b"\r\n\r\n"):
            await reply(head, writer)


async def reply(head: bytes, writer: asyncio.StreamWriter) -> None:
    number = int(head.split(b" ", 2)[1].rpartition(b"/")[2])
    if number % 2 and b"if-none-match" in head.lower():
        writer.write(b'HTTP/1.1 304 Not Modified\r\netag: "1"\r\n\r\n')
    else:
        body = document(number)
        etag = b'etag: "1"\r\n' if number % 2 else b""
        writer.write(b"HTTP/1.1 200 OK\r\n%scontent-length: %d\r\n\r\n" % (etag, len(body)) + body)
    await writer.drain()


def serve(pipe: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def poll_all(settings: Settings) -> dict[str, int]:
    """Poll all feeds as the job does."""
    job = Job("", settings.user, "", "", {}, "running", 0, None, "", None, None, "")
    with closing(open_library(settings)) as store:
        subscriptions.request_poll(store)
        async with Retrieval(settings) as retrieval:
            while True:
                done = await poll.feeds_job(job, store, retrieval, lambda _stage: None)
                if done.so_far is None:
                    return dict(done.report or {})
                job = Job("", settings.user, "", "", done.so_far, "running", 0, None, "", None, None, "")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    receiver, sender = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(sender,), daemon=True)
    server.start()
    port = receiver.recv()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(library=str(Path(folder) / "library.db"), allow_hosts=("127.0.0.1",), per_host_delay=0)
        with closing(open_library(settings)) as store:
            for number in range(count):
                store.feeds.add("web", f"http://127.0.0.1:{port}/{number}", now=clock.now())
        for name in ("first poll", "unchanged", "unchanged"):
            cpu, wall = time.process_time(), time.perf_counter()
            report = asyncio.run(poll_all(settings))
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            print(f"{name}: {count:,} feeds, {cpu:.2f} s of CPU, {wall:.2f} s in all: {report}")
    server.terminate()


if __name__ == "__main__":
    main()
