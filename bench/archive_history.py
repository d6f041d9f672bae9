"""The part `history` of `bench/archive.py`: differences of long texts, and the cost of fetches that find nothing new."""

from __future__ import annotations

import asyncio
import random
import resource
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.present.tasks import WordDiffTask
from pagekeep.store import Store, open_store
from pagekeep.workers import TEXT, run_alone
from tests.site.fixtures import article
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

WORDS = 50_000
PARAGRAPH = 80
FETCHES = 100


@dataclass(frozen=True, slots=True)
class TimedDiff:
    """A difference, and the CPU time it takes in the worker."""

    task: WordDiffTask

    def run(self) -> tuple[float, int]:
        before = resource.getrusage(resource.RUSAGE_SELF)
        found = self.task.run()
        after = resource.getrusage(resource.RUSAGE_SELF)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, found.added


def measure_history(rounds: int) -> None:
    """Print the CPU time of differences and the bytes of an unchanged fetch."""
    for name, (old, new) in _texts().items():
        measured = [run_alone(TimedDiff(WordDiffTask(old, new)), TEXT) for _ in range(rounds)]
        seconds = min(one for one, _ in measured)
        print(
            f"diff of 2 x {WORDS:,} words, {name}: {seconds:.2f} s of CPU, {measured[0][1]:,} words added (goal 0.5 s)"
        )
    print(f"unchanged fetch: {_unchanged_bytes():.1f} bytes (goal under 200)")


def _texts() -> dict[str, tuple[str, str]]:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(6_000)]

    def paragraph() -> list[str]:
        return chance.choices(words, k=PARAGRAPH)

    def change(text: list[str], share: float) -> list[str]:
        return [chance.choice(words) if chance.random() < share else word for word in text]

    old = [paragraph() for _ in range(WORDS // PARAGRAPH)]
    variants = {
        "every fifth paragraph edited": [change(p, 0.1) if n % 5 == 0 else p for n, p in enumerate(old)],
        "every paragraph edited": [change(p, 0.1) for p in old],
        "nothing in common": [paragraph() for _ in old],
        "paragraphs in another order": chance.sample(old, len(old)),
    }
    return {name: (_join(old), _join(new)) for name, new in variants.items()}


def _join(paragraphs: list[list[str]]) -> str:
    return "\n\n".join(" ".join(words) for words in paragraphs)


def _unchanged_bytes() -> float:
    """Return what a fetch adds to the library's pages when the HTML differs and the content does not."""
    visits = 0

    async def show(_request: SiteRequest, reply: Reply) -> None:
        nonlocal visits
        visits += 1
        await reply.send(article(2_000) + f"<!-- {visits} -->", etag=f'"{visits}"')

    with tempfile.TemporaryDirectory() as folder, Site({"page": show}) as site:
        path = Path(folder) / "library.db"
        settings = Settings(library=str(path), allow_hosts=("127.0.0.1",), per_host_delay=0.0, keep_pictures="none")
        with closing(open_store(path)) as store:
            return asyncio.run(_fetch_often(site.url("/page/1"), store, settings))


async def _fetch_often(url: str, store: Store, settings: Settings) -> float:
    async with Retrieval(settings) as retrieval:
        for _ in range(2):
            await save(SaveRequest(Request(url, render="never")), store, retrieval)
        before = _size(store)
        for _ in range(FETCHES):
            await save(SaveRequest(Request(url, render="never")), store, retrieval)
    return (_size(store) - before) / FETCHES


def _size(store: Store) -> int:
    def pages(tx: Any) -> int:
        count, free, size = (tx.all(f"PRAGMA {name}")[0][0] for name in ("page_count", "freelist_count", "page_size"))
        return int((count - free) * size)

    return int(store._engine.read(pages))
