"""Measure what the archive costs. `python bench/archive.py [PART...] [--items 10000] [--rounds 5]`

pictures   a page with 8 pictures, of which the slowest takes a second: how much longer than that one picture the pictures take,
           and whether the text waits for them (goal: 2 times the slowest picture; the text does not wait)
library    a library whose items have 5 kept pictures each beside one without: CPU time of list and item, in the reader and in
           the API (goal: a ratio of at most 1.1)
history    word-by-word differences of two versions of 50,000 words, in a worker (goal: 0.5 s of CPU time), and what a fetch
           that finds nothing new adds to the library (goal: under 200 bytes)

Both are ratios of times measured in turn, so a busy machine affects both sides.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from fastapi.testclient import TestClient  # noqa: E402

from pagekeep.capture.from_url import Request, Retrieval  # noqa: E402
from pagekeep.config import Settings  # noqa: E402
from pagekeep.doors.http.application import create_app  # noqa: E402
from pagekeep.library.archive.keep_pictures import run_pictures_job  # noqa: E402
from pagekeep.library.queue import SaveRequest  # noqa: E402
from pagekeep.library.saving.save import save  # noqa: E402
from pagekeep.model import ItemBlob, NewItem  # noqa: E402
from pagekeep.store import open_store  # noqa: E402
from pagekeep.workers import Room  # noqa: E402
from tests.site.gallery import Gallery, draw  # noqa: E402
from tests.store.making import NOW, make_item, make_raw  # noqa: E402

SECONDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""How long the site takes for each picture."""
PICTURES = 5
BLOBS = 500
"""Different pictures in the library; storing more would measure the disk."""
SOURCE = "https://example.com/pictures/{}.jpg"
TEXT = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. " * 5


def measure_pictures(rounds: int) -> None:
    """Print how long a page and its pictures take."""
    with tempfile.TemporaryDirectory() as folder, Gallery() as gallery:
        names = [f"{number}.jpg" for number in range(len(SECONDS))]
        gallery.pictures |= {name: draw(number, "JPEG", (1600, 1000)) for number, name in enumerate(names)}
        settings = Settings(
            library=f"{folder}/library.db", allow_hosts=("127.0.0.1",), per_host_delay=0, render="never"
        )
        texts, plain, extra = [], [], []
        room = Room(1)
        try:
            for number in range(rounds):
                gallery.put_page(f"plain-{number}", title=f"Plain {number}")
                gallery.put_page(f"full-{number}", *names, title=f"Full {number}")
                gallery.seconds = {}
                plain.append(_save(settings, gallery.site.url(f"/page/plain-{number}"), room)[0])
                gallery.seconds = dict(zip(names, SECONDS, strict=True))
                text, pictures = _save(settings, gallery.site.url(f"/page/full-{number}"), room)
                texts.append(text)
                extra.append(pictures)
        finally:
            room.close()
    slowest = max(SECONDS)
    print(f"text of a page without pictures {median(plain):.2f} s, with {len(SECONDS)} pictures {median(texts):.2f} s")
    print(
        f"pictures {median(extra):.2f} s, the slowest alone {slowest:.2f} s: {median(extra) / slowest:.2f} times (goal 2)"
    )


def _save(settings: Settings, url: str, room: Room) -> tuple[float, float]:
    """Return the seconds until the text is saved, and those from then until the pictures are kept."""

    async def run() -> tuple[float, float]:
        with closing(open_store(settings.library)) as store:
            async with Retrieval(settings, room=room) as retrieval:
                began = time.perf_counter()
                saved = await save(SaveRequest(Request(url)), store, retrieval)
                middle = time.perf_counter()
                if saved.pictures_job is not None:
                    await run_pictures_job(saved.pictures_job, store, retrieval)
                return middle - began, time.perf_counter() - middle

    return asyncio.run(run())


def measure_library(items: int, rounds: int) -> None:
    """Print the ratios of a library with pictures to one without."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        libraries = {name: Path(folder) / f"{name}.db" for name in ("without", "with")}
        ids = {name: _fill(path, items, pictures=name == "with") for name, path in libraries.items()}
        clients = {}
        for name, path in libraries.items():
            settings = Settings(library=str(path), rules=f"{folder}/rules", render="never")
            app = create_app(settings, processes=1)
            clients[name] = stack.enter_context(TestClient(app, base_url="http://127.0.0.1:8470"))
        chance = random.Random(3)
        for label, path in (
            ("list in the reader", lambda _: "/"),
            ("list in the API", lambda _: "/api/v1/items?limit=50"),
            ("item in the reader", lambda item: f"/items/{item}"),
            ("item in the API", lambda item: f"/api/v1/items/{item}"),
        ):
            places = [chance.randrange(items) for _ in range(rounds)]
            _compare(label, clients, ids, path, places)


def _compare(
    label: str,
    clients: dict[str, TestClient],
    ids: dict[str, list[str]],
    path: Callable[[str], str],
    places: list[int],
) -> None:
    """Print the CPU time of the same requests to both libraries, in turn: the least of several, and the ratio."""
    times: dict[str, list[float]] = {name: [] for name in clients}
    for place in [places[0], *places]:  # the first warms up
        for name, client in clients.items():
            best = 1e9
            for _ in range(5):
                began = time.process_time()
                answer = client.get(path(ids[name][place]))
                best = min(best, time.process_time() - began)
                assert answer.status_code == 200, answer.text
            times[name].append(best)
    without, with_ = (median(times[name][1:]) * 1000 for name in ("without", "with"))
    print(f"{label}: {without:.2f} ms without pictures, {with_:.2f} ms with: ratio {with_ / without:.2f} (goal 1.1)")


def _fill(path: Path, items: int, *, pictures: bool) -> list[str]:
    """Store items whose texts show pictures, which are kept in one of the libraries; return their ids."""
    with closing(open_store(path)) as store:
        names = [store.blobs.put(draw(number, "JPEG", (320, 200)), NOW) for number in range(BLOBS)] if pictures else []
        ids: list[str] = []
        for begin in range(0, items, 500):
            new = [NewItem(_item(number), make_raw()) for number in range(begin, min(items, begin + 500))]
            stored = store.items.save_many(new, lambda old, _: old)
            ids += [item.id for item, _ in stored]
        for number, item_id in enumerate(ids if pictures else ()):
            store.blobs.link(item_id, [_link(number, nth, names) for nth in range(PICTURES)])
        return ids


def _item(number: int):  # type: ignore[no-untyped-def]
    shown = "\n\n".join(f"{TEXT}\n\n![Picture]({SOURCE.format(f'{number}-{nth}')})" for nth in range(PICTURES))
    item = make_item(number, title=f"Page {number}", content=f"---\ntitle: Page {number}\n---\n\n{shown}\n")
    hero = SOURCE.format(f"{number}-0")
    return replace(item, metadata=replace(item.metadata, hero_image=hero, quality="article"))


def _link(number: int, nth: int, names: list[str]) -> ItemBlob:
    name = names[(number * PICTURES + nth) % len(names)]
    source = SOURCE.format(f"{number}-{nth}")
    return ItemBlob("picture", source, "kept", NOW, "image/jpeg", name, 9_000, 320, 200, position=nth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["pictures", "library", "history", []], help="default: all")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    parts = arguments.parts or ["pictures", "library", "history"]
    if "pictures" in parts:
        measure_pictures(arguments.rounds)
    if "library" in parts:
        measure_library(arguments.items, 4 * arguments.rounds)
    if "history" in parts:
        from bench.archive_history import measure_history

        measure_history(arguments.rounds)


if __name__ == "__main__":
    main()
