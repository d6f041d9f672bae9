"""Measure the pages about reading in a small and a large library, as ratios.

`python bench/reading.py [--items 100000] [--postgres]`. Goal: each takes at most 3 times as long with 100,000 items and as many
annotations as with 1,000.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import COMMON, USER, WORDS, cost, fill, libraries, settle
from pagekeep.library.items.annotations import list_highlights
from pagekeep.library.items.reading import find_neighbours, report_position, similar_items, started_items
from pagekeep.model import Annotation, ItemQuery, item_filters
from pagekeep.store import Store, open_store
from pagekeep.store.tables.reading import add_missing_annotations

_BATCH = 1_000
_MAX_RATIO = 3.0


def annotate_all(store: Store) -> None:
    """Give each item a highlight with words of its text, and every fiftieth a reading state."""
    query, number = ItemQuery(limit=_BATCH), 0
    while True:
        page = store.search.find(query)
        made = []
        for item in page.items:
            number += 1
            quote = " ".join(item.content.split()[:25])
            time = f"20{number % 25:02}-03-{1 + number % 28:02}T10:{number % 60:02}:00.{number % 1_000_000:06}Z"
            made.append(Annotation(str(uuid.uuid4()), item.id, quote, "", "", f"note {number}", None, time, time))
        store._engine.write(lambda tx, made=made: add_missing_annotations(tx, made))  # type: ignore[misc]
        for item in page.items[::50]:
            report_position(store, item.id, 0.4)
        if page.next is None:
            return
        query = ItemQuery(limit=_BATCH, after=page.next)


def actions(store: Store) -> dict[str, Callable[[], object]]:
    """Return what is measured."""
    items = store.search.find(ItemQuery(limit=400, filters=item_filters())).items
    middle, others = items[200], items[100:110]
    inbox = ItemQuery(filters=item_filters(archived=False))
    return {
        "highlights by page": lambda: list_highlights(store),
        "highlights by day": lambda: list_highlights(store, by="day"),
        "highlights, common word": lambda: list_highlights(store, WORDS[3], by="day"),
        "highlights, rare word": lambda: list_highlights(store, WORDS[COMMON + 40], by="day"),
        "highlights, two words": lambda: list_highlights(store, f"{WORDS[4]} {WORDS[9]} note", by="day"),
        "continue reading": lambda: started_items(store),
        "next and previous": lambda: find_neighbours(store, middle.id, inbox),
        "next in a search": lambda: find_neighbours(store, middle.id, f"{WORDS[25]} {WORDS[32]}"),
        "similar pages, ten": lambda: [similar_items(store, item.id) for item in others],
        "report a position": lambda: report_position(store, middle.id, 0.5),
    }


def main() -> None:
    """Print milliseconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    times: list[dict[str, float]] = []
    with libraries(options.postgres) as place:
        for count in (1_000, options.items):
            where = place(f"reading_{count}")
            with closing(open_store(where, USER)) as store:
                fill(store, count)
                annotate_all(store)
                settle(where)
                times.append({name: cost(work) for name, work in actions(store).items()})
    small, large = times
    for name in small:
        ratio = large[name] / small[name]
        mark = "" if ratio <= _MAX_RATIO else "  over the goal"
        print(f"{name:28} {small[name]:8.2f} ms {large[name]:8.2f} ms {ratio:6.2f}{mark}", flush=True)


if __name__ == "__main__":
    main()
