"""Compare the reader's pages in a large library with those in a small one: 100,000 items against 1,000, as ratios.

`python bench/reader_pages.py [--items 100000] [--library FOLDER]`. Goal: every page answers within 3
times its time in the small library. The items are short: what is measured is how pages find and count them, not how long texts
are shown. With a folder, the libraries stay there for the next run.
"""

from __future__ import annotations

import argparse
import http.client
import random
import re
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import FREQUENCIES, USER, WORDS
from pagekeep.library.items import lists
from pagekeep.model import ItemQuery, NewItem
from pagekeep.store import Store, open_store
from tests.hostile.server import Served, served
from tests.store.making import make_item

SMALL = 1_000
GOAL = 3.0
ROUNDS = 9
_BATCH = 1_000
_READ_EVERY, _BEGUN_EVERY = 3, 50
_NOW = "2025-03-19T10:30:00.000000Z"


def fill(path: Path, count: int) -> None:
    """Fill a library with short pages: 500 sites, 2,000 tags, 3,000 authors, 8 languages, ten years."""
    with closing(open_store(path, USER)) as library:
        for first in range(0, count, _BATCH):
            items = [_item(number) for number in range(first, min(count, first + _BATCH))]
            stored = library.items.save_many([NewItem(item) for item in items], lambda _old, new: new)
            _read(library, [item.id for item, _ in stored])


def _item(number: int):  # type: ignore[no-untyped-def]
    chance = random.Random(number)
    words = chance.choices(WORDS, cum_weights=FREQUENCIES, k=40)
    return make_item(
        number,
        user_id=USER,
        title=" ".join(words[:6]),
        content=" ".join(words),
        domain=f"site{int(500 * chance.random() ** 2)}.example.com",
        author=f"{WORDS[chance.randrange(60)].title()} {WORDS[chance.randrange(50)].title()}",
        tags=[f"{WORDS[int(2_000 * chance.random() ** 3)]}" for _ in range(chance.randrange(4))],
        saved_at=f"{2016 + number % 10}-{1 + number % 12:02}-{1 + number % 28:02}T10:30:00.000000Z",
        language=chance.choice(("en", "de", "fr", "es", "he", "ja", "pt", "nl")),
        quality=chance.choice(("article", "article", "article", "simplified", "bookmark")),
        archived=chance.random() < 0.5,
        pinned=chance.random() < 0.02,
        word_count=chance.randrange(100, 5_000),
    )


def _read(library: Store, ids: list[str]) -> None:
    """Note some pages as read, and some as begun."""
    rows = [
        {"user": USER, "id": one, "state": "read" if at % _READ_EVERY == 0 else "reading", "now": _NOW}
        for at, one in enumerate(ids)
        if at % _READ_EVERY == 0 or at % _BEGUN_EVERY == 1
    ]
    library._engine.write(
        lambda tx: tx.many(
            "INSERT INTO reading_states (user_id, item_id, state, chosen, progress, block, block_offset, updated_at, read_at) "
            "VALUES (:user, :id, :state, 0, 5000, 0, 0, :now, CASE WHEN :state = 'read' THEN :now END)",
            rows,
        )
    )


def paths(server: Served) -> dict[str, str]:
    """Return the pages to measure, by name."""
    pair = f"{WORDS[25]} {WORDS[32]}"
    item = re.search(r'href="(/items/[^"?]+)', _get(server, "/?state=all"))
    assert item is not None
    author = f"{WORDS[7].title()} {WORDS[9].title()}"
    return {
        "inbox": "/",
        **{state: f"/?state={state}" for state in ("unread", "reading", "read", "pinned", "archive", "all", "trash")},
        "by title": "/?order=title&state=all",
        "last opened": "/?order=opened&state=all",
        "a common tag": f"/?state=all&tag={WORDS[0]}",
        "a rare tag": f"/?state=all&tag={WORDS[1990]}",
        "a large site": "/?state=all&domain=site0.example.com",
        "a small site": "/?state=all&domain=site490.example.com",
        "quality": "/?state=all&quality=bookmark",
        "search": f"/?q={quote(pair)}",
        "search a prefix": f"/?q={quote(WORDS[30][:4])}",
        "search an author": f"/?q={quote(f'author:{author!r}'.replace(chr(39), chr(34)))}",
        "search a language": "/?q=lang:he",
        "search unread": f"/?q={quote(f'is:unread {pair}')}",
        "a typo": f"/?q={quote(WORDS[25][:3] + WORDS[25][4:] + 'qx')}",
        "tags": "/tags",
        "tags by name": "/tags?sort=name",
        "tags filtered": "/tags?q=ba",
        "sites": "/sites",
        "authors": "/authors",
        "statistics": "/statistics",
        "suggest a tag": "/suggestions?kind=tag&q=ba",
        "suggest a site": "/suggestions?kind=site&q=site1",
        "an article": item[1],
        "highlights": "/highlights",
        "feeds": "/feeds/inbox",
        "changes": "/changes",
        "lists": "/lists",
        "a list by hand": _list_address(server, "By hand"),
        "a saved search": _list_address(server, "Unread"),
        "save rules": "/save-rules",
        "a rule on trial": f"/save-rules?query=tag%3A{WORDS[0]}&tags=new",
        "suggested tags": "/suggested-tags",
        "recent changes": "/actions",
        "sinks": "/sinks",
        "add": "/add",
        "settings": "/settings",
    }


def _list_address(server: Served, name: str) -> str:
    found = re.search(rf'href="(/lists/[^"?]+)"[^>]*>(?:<[^>]*>)*{name}', _get(server, "/lists"))
    assert found is not None
    return found[1]


def add_lists(path: Path) -> None:
    """Add a list of 200 pages and a saved search, unless they are there."""
    with closing(open_store(path, USER)) as library:
        if library.lists.list():
            return
        by_hand = lists.add_list(library, "By hand")
        found = library.search.find(ItemQuery(limit=200)).items
        lists.add_items(library, by_hand.id, [item.id for item in found])
        lists.add_list(library, "Unread", "is:unread")


def _get(server: Served, path: str) -> str:
    where = urlsplit(server.address)
    with closing(http.client.HTTPConnection(str(where.hostname), where.port, timeout=120)) as line:
        line.request("GET", path, headers={"Accept": "text/html"})
        answer = line.getresponse()
        body = answer.read().decode()
        if answer.status != 200:
            sys.exit(f"{path} answered {answer.status}")
        return body


def measure(servers: list[Served]) -> dict[str, list[float]]:
    """Return the median seconds of each page on each server; the servers take turns."""
    named = [paths(server) for server in servers]
    found: dict[str, list[float]] = {}
    for name in named[0]:
        times: list[list[float]] = [[] for _ in servers]
        for turn in range(ROUNDS + 1):
            for number, server in enumerate(servers):
                began = time.perf_counter()
                _get(server, named[number][name])
                if turn:
                    times[number].append(time.perf_counter() - began)
        found[name] = [median(each) for each in times]
    return found


def run(items: int, folder: Path) -> int:
    """Print the ratio of every page; return 1 when one misses the goal."""
    with ExitStack() as stack:
        servers = []
        for count in (SMALL, items):
            path = folder / f"reader-{count}.db"
            if not path.exists():
                fill(path, count)
            add_lists(path)
            flags = ("--workers", "1", "--log-level", "warning")
            servers.append(stack.enter_context(served(path, *flags, render="never", user=USER)))
        missed = 0
        for name, (small, large) in measure(servers).items():
            missed += large / small > GOAL
            print(f"{name}: {small * 1000:.1f} ms, {large * 1000:.1f} ms, ratio {large / small:.2f} (at most {GOAL:g})")
    return int(missed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument(
        "--library", type=Path, help="A folder for the libraries, which are filled if they are not there."
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(asked.items, asked.library or Path(folder))


if __name__ == "__main__":
    sys.exit(main())
