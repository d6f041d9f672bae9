"""Measure the cost of a page by its size: CPU milliseconds per megabyte from 0.1 to 10 MB, for several types of pages.

Where the cost is linear, the figures of a row are about the same. Usage: python bench/curve.py [--rounds N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from pagekeep import dom, extract

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 9_900_000)
"""Bytes; the last is just below what `extract` takes by default."""


def prose(number: int) -> str:
    """Return a paragraph of an article, sometimes with a heading."""
    heading = f"<h2>Part {number} of the log</h2>\n" if number % 8 == 0 else ""
    return (
        f'{heading}<p class="text">On day {number} the keeper wrote that <em>the light</em> had burned for {number + 7}'
        f' hours, that the <a href="/ship/{number}">ship no. {number}</a> went by at noon, and that the sea was as calm as'
        f" it had been on day {number // 2}, when nobody came &amp; nothing was said.</p>\n"  # plain-words: ok
    )


def cards(number: int) -> str:
    """Return a card of a listing, with the elements and attributes that frameworks write."""
    return (
        f'<div class="grid-cell px-4" data-id="{number}"><div class="card"><a class="card-link" href="/lamp/{number}">'
        f'<img src="/img/{number}.jpg" alt="Lamp {number}" loading="lazy"></a><div class="card-body"><h3><a href="/lamp/'
        f'{number}">Lamp {number}</a></h3><span class="price">{number}.50</span><p>Burns for {number} nights.</p></div></div>'
        "</div>\n"
    )


def rows(number: int) -> str:
    """Return a table row; a new table begins every 200 rows."""
    row = f"<tr><td>{number}</td><td>Harbour {number}</td><td><b>{number % 60}</b> ships, one of them late</td></tr>\n"
    return f"</table>\n<p>The next harbours, from {number} on.</p>\n<table>{row}" if number % 200 == 0 else row


def posts(number: int) -> str:
    """Return a forum post; every third has a quote."""
    quote = f"<blockquote>What of night {number - 1}?</blockquote>" if number % 3 == 0 else ""
    return (
        f'<div class="post" id="post-{number}"><span class="author">Keeper {number % 40}</span><div class="post-body">{quote}'
        f"<p>Night {number}: the lamp went out twice, and I lit it again both times with what oil was left.<br>More tomorrow."
        "</p></div></div>\n"
    )


def page(part: Callable[[int], str], size: int) -> str:
    """Return a page of this type with about this many bytes."""
    parts = [
        "<!DOCTYPE html><html lang=en><head><title>The log of a lighthouse</title></head><body><main><h1>The log</h1>\n"
    ]
    length, number = len(parts[0]), 1
    while length < size:
        parts.append(part(number))
        length += len(parts[-1])
        number += 1
    return "".join(parts)


def cheapest(work: Callable[[str], object], html: str, rounds: int) -> float:
    """Return the least CPU seconds of several runs, to leave out the noise of other processes."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work(html)
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Measure and print a row for each type of page, and one for the parser alone."""
    parser = argparse.ArgumentParser(description="CPU milliseconds a megabyte, by the size of the page.")
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print("CPU ms per MB".ljust(22), *(f"{size / 1e6:g} MB".rjust(9) for size in SIZES))
    makes: dict[str, tuple[Callable[[int], str], Callable[[str], object]]] = {
        "parse alone, prose": (prose, dom.parse),
        **{
            make.__name__: (make, lambda html: extract(html, "https://light.example/log"))
            for make in (prose, cards, rows, posts)
        },
    }
    for name, (make, work) in makes.items():
        costs = [cheapest(work, html, rounds) * 1e9 / len(html) for html in (page(make, size) for size in SIZES)]
        print(name.ljust(22), *(f"{cost:.1f}".rjust(9) for cost in costs), flush=True)


if __name__ == "__main__":
    main()
