"""Compare a large library with a small one: 100,000 items against 1,000, as ratios.

`python bench/store.py [--items 100000] [--postgres]`. Goals: listing a page and searching for two words at most 3, saving
one more page at most 1.2, and the database at most 1.3 times its compressed pages and texts.

The pages are generated: word frequencies as in natural language, and a compressed page 2.5 times its text, as measured over
250 real pages of many sites (36 KB and 14 KB). The size is measured on 1,000 pages as long as those; the others are shorter,
to save time. Searches are for pairs of words with a full page of hits in both libraries, so that both return the same amount.
"""

from __future__ import annotations

import argparse
import base64
import random
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import accumulate, islice
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from pagekeep.model import Item, ItemQuery, RawPage, item_filters
from pagekeep.store import Store, open_store, parse_query
from pagekeep.store.tables.items import Items
from tests.store.making import make_item, make_raw, moment, postgres_server

SMALL = 1_000
SHORT, LONG = 500, 2_200
"""Words of a text."""
VOCABULARY = 30_000
COMMON = 2_000
"""Words that are in texts of all topics."""
TOPIC = 60
"""How many rare words a text repeats."""
BATCH = 500
ROUNDS = 7
USER = "bench"


def vocabulary() -> tuple[list[str], list[float]]:
    """Return words with cumulative frequencies: the nth is 1/n as frequent as the first."""
    chance = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = list(dict.fromkeys("".join(chance.choices(syllables, k=2 + n % 3)) for n in range(VOCABULARY * 2)))[
        :VOCABULARY
    ]
    return words, list(accumulate(1 / (rank + 10) for rank in range(len(words))))


WORDS, FREQUENCIES = vocabulary()
PAIRS = [(WORDS[n], WORDS[n + 7]) for n in range(20, 90, 5)]
"""Words of which each is in about every third to tenth text."""


def pages(first: int, length: int = SHORT) -> Iterator[tuple[Item, RawPage]]:
    """Yield pages without end."""
    number = first
    while True:
        chance = random.Random(number)
        topic = chance.choices(WORDS[COMMON:], k=TOPIC)
        common = chance.choices(WORDS[:COMMON], cum_weights=FREQUENCIES[:COMMON], k=length)
        words = [word if number % 3 else topic[number % TOPIC] for number, word in enumerate(common)]
        content = "\n\n".join(" ".join(words[at : at + 70]) for at in range(0, len(words), 70))
        scripts = base64.b64encode(chance.randbytes(int(len(content) * 2)))
        body = b"<article>%s</article><script>%s</script>" % (content.encode(), scripts)
        title = " ".join(chance.choices(WORDS, cum_weights=FREQUENCIES, k=6))
        item = make_item(
            number,
            user_id=USER,
            title=title,
            content=content,
            domain=f"site{number % 500}.example.com",
            saved_at=moment(number % 1400).replace("2025", str(2000 + number % 25)),
            quality={"level": "article"},
        )
        yield item, make_raw(body)
        number += 1


def fill(library: Store, count: int, length: int = SHORT) -> None:
    """Store the pages in large transactions, to save time."""
    source = pages(0, length)
    for _ in range(0, count, BATCH):
        batch = list(islice(source, BATCH))
        library._engine.write(
            lambda tx, batch=batch: [Items.save.__wrapped__(library.items, tx, *page) for page in batch]
        )  # type: ignore[attr-defined]


def cost(work: Callable[[], object]) -> float:
    """Return the median milliseconds of some rounds, after a warm-up round."""
    work()
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return median(times) * 1000


def measure(library: Store, count: int) -> dict[str, float]:
    """Return the cost of each task."""
    fresh = pages(10_000_000)
    deep = library.search.find(ItemQuery(filters=item_filters(archived=False), limit=50)).next
    pairs = [" ".join(pair) for pair in PAIRS]
    hits = [len(library.search.find(parse_query(pair)).hits) for pair in pairs]
    if min(hits) < 20:
        sys.exit(f"A search has no full page of hits with {count} items: {hits}")
    return {
        "list": cost(lambda: library.search.find(ItemQuery(filters=item_filters(archived=False), limit=50))),
        "list, second page": cost(
            lambda: library.search.find(ItemQuery(filters=item_filters(archived=False), limit=50, after=deep))
        ),
        "list by title": cost(
            lambda: library.search.find(ItemQuery(filters=item_filters(archived=False), order="title", limit=50))
        ),
        "list a domain": cost(
            lambda: library.search.find(
                ItemQuery(filters=item_filters(domain="site7.example.com", archived=False), limit=2)
            )
        ),
        "search": cost(lambda: [library.search.find(parse_query(pair)) for pair in pairs]) / len(pairs),
        "save": cost(lambda: [library.items.save(*page) for page in islice(fresh, 40)]) / 40,
    }


@contextmanager
def libraries(postgres: bool) -> Iterator[Callable[[str], str]]:
    """Yield a function that returns the address of a library by name."""
    if not postgres:
        with tempfile.TemporaryDirectory() as folder:
            yield lambda name: str(Path(folder) / f"{name}.db")
        return
    with postgres_server() as server:
        import psycopg

        from pagekeep.store.postgres import install

        def database(name: str) -> str:
            name = f"{name}_{uuid.uuid4().hex}"
            with psycopg.connect(server.owner, autocommit=True) as owner:
                owner.execute(f"CREATE DATABASE {name}")
            install(server.owner.replace("/postgres?", f"/{name}?"))
            return server.app.replace("/postgres?", f"/{name}?")

        yield database


def size(where: str) -> int:
    """Return the bytes on disk."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(row[0]) if row else 0
    return sum(file.stat().st_size for file in Path(where).parent.glob(Path(where).name + "*"))


def settle(where: str) -> None:
    """Update PostgreSQL's statistics and SQLite's log, as in a library that has been used for a while."""
    if where.startswith("postgres"):
        import psycopg

        with psycopg.connect(where.replace("//keeper:", "//postgres:"), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


@contextmanager
def opened(where: str, count: int, length: int = SHORT) -> Iterator[Store]:
    """Fill a library with this many pages."""
    with closing(open_store(where, USER)) as library:
        began = perf_counter()
        fill(library, count, length)
        settle(where)
        print(f"{count} items in {perf_counter() - began:.0f} s", flush=True)
        yield library


def print_size(where: str) -> None:
    """Print the size of the database against its compressed pages and texts."""
    empty = 0
    if where.startswith("postgres"):
        empty = size(where)
    with opened(where, SMALL, LONG) as library:
        packed = library.counts.totals()["raw_bytes_packed"]
    texts = sum(len(item.content) for item, _ in islice(pages(0, LONG), SMALL))
    share = f"packed page {packed / SMALL / 1000:.1f} KB, text {texts / SMALL / 1000:.1f} KB"
    print(f"size: {(size(where) - empty) / (packed + texts):.2f} of pages and texts (an item: {share})", flush=True)


def main() -> None:
    """Fill and measure both libraries, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--postgres", action="store_true")
    chosen = parser.parse_args()
    found = {}
    with libraries(chosen.postgres) as place:
        print_size(place("long"))
        for count in (SMALL, chosen.items):
            with opened(place(f"of{count}"), count) as library:
                found[count] = measure(library, count)
    for task, small in found[SMALL].items():
        large = found[chosen.items][task]
        print(f"{task}: {large / small:.2f} ({small:.2f} ms, {large:.2f} ms)")


if __name__ == "__main__":
    main()
