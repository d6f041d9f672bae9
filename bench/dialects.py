"""Time the EPUB of a long article, and a whole synchronisation by wallabag's and linkding's API beside reading the store.

Seconds of CPU are of the process that serves; those of its workers, which render each text once, are shown beside them.

.venv/bin/python bench/dialects.py [--items 10000]
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import io
import json
import logging
import os
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from PIL import Image, ImageDraw, ImageFilter

sys.path.insert(0, str(Path(__file__).parents[1]))

from pagekeep import clock
from pagekeep.library.exports.item_book import build_item_book, collect_book
from pagekeep.library.items.find import walk_items
from pagekeep.model import Item, ItemBlob, ItemMetadata, NewItem
from pagekeep.store import LOCAL_USER, Store, open_store
from pagekeep.workers import Room
from tests.hostile.server import served

WORDS = "tide harbour keeper lamp oil the a of and in ship counts before breakfast writes number".split()


def make_item(number: int, content: str) -> Item:
    now = clock.now()
    url = f"https://example.com/{number}"
    about = ItemMetadata(quality="article", word_count=800, reading_time="4 min", tags=("sea",) if number % 3 else ())
    return Item(
        str(uuid.uuid4()), LOCAL_USER, url, url, "example.com", f"Page {number}", content, "web", None, now, None, about,
        now, now
    )  # fmt: skip


def make_text(words: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    text = [chosen.choice(WORDS) for _ in range(words)]
    return [" ".join(text[at : at + 80]).capitalize() + "." for at in range(0, words, 80)]


def make_picture(seed: int) -> bytes:
    """Return a picture of 1600 x 1200 pixels with soft shapes, such as a photograph has."""
    chosen = random.Random(seed)
    picture = Image.new("RGB", (1600, 1200), (90, 120, 160))
    draw = ImageDraw.Draw(picture)
    for _ in range(120):
        x, y, size = chosen.randrange(1600), chosen.randrange(1200), chosen.randrange(20, 300)
        draw.ellipse((x, y, x + size, y + size), fill=tuple(chosen.randrange(256) for _ in range(3)))
    out = io.BytesIO()
    picture.filter(ImageFilter.GaussianBlur(3)).save(out, "JPEG", quality=88)
    return out.getvalue()


def time_book(store: Store) -> None:
    parts = []
    for at, paragraph in enumerate(make_text(10_000, 1)):
        parts.append(paragraph)
        if at % 6 == 0 and at // 6 < 20:
            parts.append(f"![Picture](https://example.com/p{at // 6}.jpg)")
    item = store.items.save(make_item(-1, "\n\n".join(parts)), None)
    links, now = [], clock.now()
    for number in range(20):
        data = make_picture(number)
        name = store.blobs.put(data, now, compress=False)
        url = f"https://example.com/p{number}.jpg"
        links.append(ItemBlob("picture", url, "kept", now, "image/jpeg", name, len(data), 1600, 1200, position=number))
    store.blobs.replace_links(item.id, ["picture"], links)
    task = collect_book(store, (item,), None)
    cpu = time.process_time()
    task.run()
    print(f"EPUB in this process: {time.process_time() - cpu:.2f} s of CPU")
    room = Room(2)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        size = len(asyncio.run(build_item_book(store, item, room)))
        times.append(time.perf_counter() - began)
    room.close()
    shown = ", ".join(f"{seconds:.2f}" for seconds in times)
    print(f"EPUB of 10,000 words and 20 pictures of 1600 x 1200: {shown} s, {size:,} bytes (the first starts a worker)")


class Client:
    """Asks a server by one connection, as a program that synchronises does."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc)

    def get(self, path: str) -> Any:
        """Return the JSON of an answer, or `None` for a page past the end."""
        self._connection.request("GET", f"/{path}")
        with self._connection.getresponse() as answer:
            body = answer.read()
            return json.loads(body) if answer.status == 200 else None


def cpu_of(process: int) -> tuple[float, float]:
    """Return the seconds of CPU of a process, and of its children, which render."""
    return _seconds(process), sum(_seconds(child) for child in _children(process))


def _children(process: int) -> Iterator[int]:
    for thread in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            yield child
            yield from _children(child)


def _seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def time_lists(path: Path, store: Store, count: int) -> None:
    for begin in range(0, count, 500):
        items = [make_item(n, "\n\n".join(make_text(800, n % 50))) for n in range(begin, min(begin + 500, count))]
        store.items.save_many([NewItem(item) for item in items], lambda old, _: old)
    bases = []
    for _ in range(3):
        cpu = time.process_time()
        read = sum(1 for _ in walk_items(store))
        bases.append(time.process_time() - cpu)
    base = min(bases)
    print(f"reading {read:,} items from the store: {base:.2f} s of CPU")
    with served(path) as running:
        client = Client(running.address)
        ways = {
            "wallabag, detail=metadata": ("wallabag/api/entries?detail=metadata&perPage=100&page={}", 1, 1),
            "wallabag, with content, for the first time": ("wallabag/api/entries?perPage=100&page={}", 1, 1),
            "wallabag, with content, again": ("wallabag/api/entries?perPage=100&page={}", 1, 1),
            "wallabag, 30 a page, again": ("wallabag/api/entries?perPage=30&page={}", 1, 1),
            "linkding": ("linkding/api/bookmarks/?limit=100&offset={}", 0, 100),
        }
        for name, (address, at, step) in ways.items():
            for _ in range(5):  # routes are built at the first request, and threads started
                client.get(ways["wallabag, detail=metadata"][0].format(1))
            began, (own, children), got = time.perf_counter(), cpu_of(running.process.pid), 0
            while (body := client.get(address.format(at))) is not None:
                found = len(body["_embedded"]["items"] if "_embedded" in body else body["results"])
                got, at = got + found, at + step
                if not found:
                    break
            seconds, (own_after, children_after) = time.perf_counter() - began, cpu_of(running.process.pid)
            used = own_after - own
            print(
                f"{name}: {got:,} in {seconds:.2f} s; the server {used:.2f} s of CPU, {used / base:.1f} times reading the "
                f"store; rendering {children_after - children:.2f} s"
            )
        time_changes(client, store)


def time_changes(client: Client, store: Store) -> None:
    """Print what asking for changes costs, when there are none, and when there are ten."""
    for changed in (0, 10):
        time.sleep(1.1)
        since = int(time.time())
        for item in islice(walk_items(store), changed):
            store.items.set_metadata(item.id, clock.now(), pinned=True)
        began = time.perf_counter()
        got = client.get(f"wallabag/api/entries?since={since}&perPage=100")["total"]
        print(f"wallabag, {got} changed since: {(time.perf_counter() - began) * 1000:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    count = parser.parse_args().items
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        store = open_store(str(path))
        time_book(store)
        time_lists(path, store, count)
        store.close()


if __name__ == "__main__":
    main()
