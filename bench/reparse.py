"""Measure how reparsing a library scales: 5,000 stored pages with one process, then with one per core.

`python bench/reparse.py [folder of .html or .html.gz files] [pages]`. Prints pages per second, the ratio of both, and the
memory of the main process after a fifth of the pages and at the end. The goals: at least 1.7 times as fast on two cores,
and memory that does not grow. Use a folder of real pages: those of tests/corpus are so small that storing takes longer than
extracting. On a busy machine look at the CPU time per page instead of the ratio: it should hardly rise with more processes.
"""

from __future__ import annotations

import gzip
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter

from pagekeep.capture.extract import ReadTask
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.library.items import build_item
from pagekeep.library.saving.reparse import reparse
from pagekeep.model import Fetched, Options
from pagekeep.rules import shipped
from pagekeep.store import Store, open_store

NOW = "2025-03-19T10:30:00.000000Z"
CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


def bodies(folder: Path) -> Iterator[bytes]:
    """Yield different pages without end."""
    files = sorted([*folder.rglob("*.html"), *folder.rglob("*.html.gz")])
    if not files:
        sys.exit(f"There are no .html files in {folder}.")
    for number, file in enumerate(itertools.cycle(files)):
        data = file.read_bytes()
        yield (gzip.decompress(data) if file.suffix == ".gz" else data) + f"<!-- {number} -->".encode()


def fill(store: Store, folder: Path, count: int) -> list[str]:
    """Fill a library with this many pages and return their ids."""
    ids: list[str] = []
    for number, body in enumerate(bodies(folder)):
        if len(ids) == count:
            return ids
        url = f"https://example.com/{number}"
        fetched = Fetched(url, url, 200, {}, body)
        try:
            page = ReadTask(fetched, Options(saved_at="2025-03-19T10:30:00Z"), Settings(), shipped()).run()
        except PagekeepError:
            continue
        item = build_item.new_item(page, fetched, url=url, url_full=url, user_id=store.user_id, now=NOW, tags=())
        ids.append(store.items.save(item, build_item.to_raw_page(fetched, NOW)).id)
    return ids


def memory() -> float:
    """Return the memory of this process in megabytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(store: Store, ids: list[str], processes: int) -> float:
    """Return the pages per second."""
    began, used, early = perf_counter(), sum(os.times()[:4]), 0.0
    for number, _ in enumerate(reparse(store, ids, force=True, processes=processes)):
        if number == len(ids) // 5:
            early = memory()
    rate = len(ids) / (perf_counter() - began)
    each = 1000 * (sum(os.times()[:4]) - used) / len(ids)
    print(f"{processes} processes: {rate:.1f} pages/s, {each:.1f} ms of CPU a page; ", end="")
    print(f"memory {early:.0f} MB after a fifth, {memory():.0f} MB at the end")
    return rate


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as home, closing(open_store(Path(home) / "library.db")) as store:
        ids = fill(store, folder, count)
        one = run(store, ids, 1)
        print(f"{run(store, ids, cores) / one:.2f} times as fast with {cores} processes as with one")


if __name__ == "__main__":
    main()
