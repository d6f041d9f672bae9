"""Time the EPUB of a long article, and a whole synchronisation by wallabag's and linkding's API beside reading the store.

Seconds of CPU are of the process that serves and asks; rendering, in workers, is not in them.

.venv/bin/python bench/dialects.py [--items 10000]
"""

from __future__ import annotations

import argparse
import asyncio
import io
import logging
import random
import tempfile
import time
import uuid
from pathlib import Path

from fastapi.testclient import TestClient
from PIL import Image, ImageDraw, ImageFilter

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.library.exports.item_book import build_item_book, collect_book
from pagekeep.library.items import walk_items
from pagekeep.model import Item, ItemBlob, ItemMetadata, NewItem
from pagekeep.store import LOCAL_USER, Store, open_store
from pagekeep.workers import Room

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
    item = store.upsert(make_item(-1, "\n\n".join(parts)), None)
    links, now = [], clock.now()
    for number in range(20):
        data = make_picture(number)
        name = store.put_blob(data, now, compress=False)
        url = f"https://example.com/p{number}.jpg"
        links.append(ItemBlob("picture", url, "kept", now, "image/jpeg", name, len(data), 1600, 1200, position=number))
    store.replace_links(item.id, ["picture"], links)
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


def time_lists(settings: Settings, store: Store, count: int) -> None:
    for begin in range(0, count, 500):
        items = [make_item(n, "\n\n".join(make_text(800, n % 50))) for n in range(begin, min(begin + 500, count))]
        store.upsert_many([NewItem(item) for item in items], lambda old, _: old)
    began, cpu = time.perf_counter(), time.process_time()
    read = sum(1 for _ in walk_items(store))
    base, base_cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"reading {read:,} items from the store: {base:.2f} s, {base_cpu:.2f} s of CPU")
    with TestClient(create_app(settings, processes=2), base_url="http://127.0.0.1:8470") as client:
        ways = {
            "wallabag, detail=metadata, 100 a page": (
                "/wallabag/api/entries?detail=metadata&perPage=100&page={}",
                1,
                1,
            ),
            "wallabag, with content, 100 a page": ("/wallabag/api/entries?perPage=100&page={}", 1, 1),
            "linkding, 100 a page": ("/linkding/api/bookmarks/?limit=100&offset={}", 0, 100),
        }
        for name, (path, at, step) in ways.items():
            began, cpu, got = time.perf_counter(), time.process_time(), 0
            while (answer := client.get(path.format(at))).status_code == 200:
                body = answer.json()
                found = len(body["_embedded"]["items"] if "_embedded" in body else body["results"])
                got, at = got + found, at + step
                if not found:
                    break
            seconds, used = time.perf_counter() - began, time.process_time() - cpu
            print(
                f"{name}: {got:,} in {seconds:.2f} s, {used:.2f} s of CPU, {used / base_cpu:.1f} times reading the store"
            )
        since = int(time.time()) + 1
        began = time.perf_counter()
        client.get(f"/wallabag/api/entries?since={since}&perPage=100")
        print(f"wallabag, nothing changed since: {(time.perf_counter() - began) * 1000:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    count = parser.parse_args().items
    logging.disable(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(library=str(Path(folder) / "library.db"), rules=str(Path(folder) / "rules"))
        store = open_store(settings.library)
        time_book(store)
        time_lists(settings, store, count)
        store.close()


if __name__ == "__main__":
    main()
