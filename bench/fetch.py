"""Measure what fetching adds to extracting: 200 static pages from loopback, eight at a time, against `extract` alone.

`python bench/fetch.py [folder of .html files]`. The server runs in a separate process and sends the pages with gzip, as
servers do. Prints the ratio of both times; the goal is at most 1.5.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from pagekeep import Options, PagekeepError, extract
from pagekeep.config import Settings
from pagekeep.fetch import Client

PAGES = 200
AT_ONCE = 8
ROUNDS = 3
CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


def pages(folder: Path) -> list[bytes]:
    """Return two hundred pages, repeating those of the folder."""
    files = sorted(folder.rglob("*.html"))
    if not files:
        sys.exit(f"There are no .html files in {folder}.")
    return [file.read_bytes() for file in itertools.islice(itertools.cycle(files), PAGES)]


def serve(folder: Path) -> None:
    """Serve page N at `/N`; print the port, and end when stdin closes."""
    packed = [gzip.compress(page) for page in pages(folder)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            body = packed[int(line.split()[1][1:])]
            head = (
                f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}"
            )
            writer.write(head.encode() + b"\r\n\r\n" + body)
            await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)

    asyncio.run(run())


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Run the server and yield its address."""
    command = [sys.executable, __file__, str(folder), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.communicate()


def _extract(page: bytes, url: str, encoding: str | None = None) -> None:
    try:
        extract(page, url, options=Options(encoding=encoding))
    except PagekeepError:
        return


def alone(all_pages: list[bytes]) -> float:
    """Return the seconds to extract the pages from memory."""
    began = perf_counter()
    for number, page in enumerate(all_pages):
        _extract(page, f"https://example.com/{number}")
    return perf_counter() - began


async def fetched(site: str) -> float:
    """Return the seconds to fetch and extract the pages."""
    numbers = iter(range(PAGES))
    settings = Settings(allow_hosts=("127.0.0.1",), per_host_connections=AT_ONCE, per_host_delay=0)

    async def worker(client: Client) -> None:
        for number in numbers:
            page = await client.fetch(f"{site}/{number}")
            _extract(page.body, page.final_url, page.encoding)

    began = perf_counter()
    async with Client(settings) as client:
        await asyncio.gather(*(worker(client) for _ in range(AT_ONCE)))
    return perf_counter() - began


def main() -> None:
    """Measure both alternately and print the best of three."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    if "--serve" in sys.argv:
        serve(folder)
        return
    all_pages = pages(folder)
    alone(all_pages)
    with server(folder) as site:
        rounds = [(alone(all_pages), asyncio.run(fetched(site))) for _ in range(ROUNDS)]
    extracting, both = (min(times) for times in zip(*rounds, strict=True))
    size = sum(map(len, all_pages)) / PAGES / 1000
    print(f"{PAGES} pages of {size:.0f} KB: extracted in {extracting:.2f} s, fetched and extracted in {both:.2f} s")
    print(f"ratio {both / extracting:.2f}")


if __name__ == "__main__":
    main()
