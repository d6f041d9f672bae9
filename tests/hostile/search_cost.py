"""Nasty searches in a large library: each costs a bounded multiple of a plain one, or ends with a typed error.

`python -m tests.hostile.search_cost [ITEMS] [--engine sqlite|postgres]`: 100,000 items by default.
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import sys
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final

from pagekeep.errors import InvalidQuery
from pagekeep.model import NewItem
from pagekeep.store import Store, open_store, parse_query
from tests.hostile.store_places import USER, attack_on
from tests.store.making import make_item

MAX_SECONDS: Final = 15.0
"""A search is ended after ten seconds; the rest is for a machine that is busy."""
WORDS: Final = tuple(
    "".join(random.Random(number).choices(string.ascii_lowercase, k=3 + number % 8)) for number in range(20_000)
)
CJK: Final = "灯台の記録は毎朝の水位と風と通り過ぎた船を書き留めたものである"


def fill(library: Store, items: int) -> None:
    """Add items whose words are as unevenly frequent as in texts."""
    chance = random.Random(5)
    for begin in range(0, items, 500):
        batch = []
        for number in range(begin, min(begin + 500, items)):
            words = [WORDS[int(len(WORDS) * chance.random() ** 3)] for _ in range(60)]
            text = f"{' '.join(words)} common {CJK[number % 20 :] if number % 5 == 0 else ''}"
            item = make_item(number, user_id=USER, title=" ".join(words[:5]), content=text, tags=[f"tag{number % 50}"])
            batch.append(NewItem(item))
        library.items.save_many(batch, lambda old, _new: old)


def queries() -> dict[str, str]:
    """Return the searches by what is nasty about them."""
    letters = string.ascii_lowercase
    return {
        "one rare word": WORDS[19_000],
        "one common word": "common",
        "very long": " ".join(WORDS[:400]) * 20,
        "one very long word": "x" * 100_000,
        "one letter with a star": "a*",
        "every letter with a star": " ".join(f"{letter}*" for letter in letters),
        "common and every letter": "common " + " ".join(f"{letter}*" for letter in letters),
        "without a letter": "-a*",
        "without every letter": " ".join(f"-{letter}*" for letter in letters),
        "common without every letter": "common " + " ".join(f"-{letter}*" for letter in letters),
        "common without common words": "common " + " ".join(f"-{word}" for word in WORDS[:40]),
        "only minus": "- - -- --- -",
        "hundreds of operators": " ".join(["-is:pinned", "tag:a", "-tag:b", "before:2030", "domain:x", "-x*"] * 60),
        "tags that are not there": "common " + " ".join(f"-tag:tag{number}" for number in range(40)),
        "rare tag, common word": "common tag:nothing",
        "impossible filter, every word": "common domain:nowhere.example",
        "Chinese": CJK[:12],
        "one Chinese letter": "の",
        "Chinese with a star": "の*",
        "long Chinese": CJK * 30,
        "phrase of one letter": '"a b c d e f g h i j k l m n o p"',
        "phrase of common words": f'"{WORDS[0]} {WORDS[1]} {WORDS[2]}"',
        "long phrase": '"' + "common " * 140 + '"',
        "many phrases": " ".join(f'"{WORDS[n]} common"' for n in range(30)),
        "unbalanced quotes": '"common ' + '" "' * 100,
        "wildcards": "*** % _ a_% [a-z]* (a|b)* NEAR/2 ^a {head}: a",
        "operators of databases": "a AND b OR c NOT d NEAR(e f) & | ! <-> :*",
        "stars only": "* " * 300,
        "same prefix many times": "co* " * 200,
        "nul and controls": "com\x00mon \x01\x02 \ud800",
    }


def measure(work: Callable[[], object], times: int = 3) -> float:
    """Return the seconds that the work takes, of the best of a few times."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
        if best > 1:
            break
    return best


def attack(where: str, items: int) -> list[str]:
    """Fill a library, run every search, print what each costs; return the faults."""
    faults = []
    with closing(open_store(where, USER)) as library:
        began = time.monotonic()
        fill(library, items)
        print(f"{items:,} items in {time.monotonic() - began:.0f} s", flush=True)
        plain = statistics.median(
            measure(lambda word=word: library.search.find(parse_query(word))) for word in WORDS[9_000:9_005]
        )  # type: ignore[misc]
        for name, query in queries().items():
            ended = ""
            try:
                seconds = measure(lambda query=query: library.search.find(parse_query(query)))  # type: ignore[misc]
            except InvalidQuery as error:
                seconds, ended = 0.0, error.message
            except Exception as error:
                faults.append(f"{name}: {type(error).__name__}: {error}"[:200])
                continue
            print(f"  {name:32} {seconds * 1000:9.1f} ms  {seconds / plain:8.1f} x  {ended}", flush=True)
            if seconds > MAX_SECONDS:
                faults.append(f"{name}: {seconds:.1f} s")
        faults += [] if library.search.find(parse_query("common")).hits else ["a plain search finds nothing afterwards"]
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append")
    chosen = parser.parse_args()
    failed = False
    for engine in chosen.engine or ("sqlite", "postgres"):
        print(engine)
        found = attack_on(engine, attack, chosen.items)
        print(f"{engine}: {len(queries())} searches, faults: {found or 'none'}")
        failed = failed or bool(found)
    sys.exit(failed)
