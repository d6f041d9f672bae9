"""What a page costs by its size: CPU milliseconds a megabyte from 0.1 to 10 MB, for pages of several makes.

Where the cost grows in line with the page, the figures of a row stay alike. Usage: python bench/curve.py [--rounds N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from pagekeep import dom, extract

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 9_900_000)
"""Bytes; the last is just below what `extract` takes by default."""


def prose(number: int) -> str:
    """A paragraph of an article, under a heading now and then."""
    heading = f"<h2>Part {number} of the log</h2>\n" if number % 8 == 0 else ""
    return (
        f'{heading}<p class="text">On day {number} the keeper wrote that <em>the light</em> had burned for {number + 7}'
        f' hours, that the <a href="/ship/{number}">ship no. {number}</a> went by at noon, and that the sea was as calm as'
        f" it had been on day {number // 2}, when nobody came &amp; nothing was said.</p>\n"
    )


def cards(number: int) -> str:
    """A card of a listing, in the boxes and with the attributes that frameworks give it."""
    return (
        f'<div class="grid-cell px-4" data-id="{number}"><div class="card"><a class="card-link" href="/lamp/{number}">'
        f'<img src="/img/{number}.jpg" alt="Lamp {number}" loading="lazy"></a><div class="card-body"><h3><a href="/lamp/'
        f'{number}">Lamp {number}</a></h3><span class="price">{number}.50</span><p>Burns for {number} nights.</p></div></div>'
        "</div>\n"
    )


def rows(number: int) -> str:
    """Rows of a table, a table every 200."""
    row = f"<tr><td>{number}</td><td>Harbour {number}</td><td><b>{number % 60}</b> ships, one of them late</td></tr>\n"
    return f"</table>\n<p>The next harbours, from {number} on.</p>\n<table>{row}" if number % 200 == 0 else row


def posts(number: int) -> str:
    """A post of a thread, each third with a quotation."""
    quote = f"<blockquote>What of night {number - 1}?</blockquote>" if number % 3 == 0 else ""
    return (
        f'<div class="post" id="post-{number}"><span class="author">Keeper {number % 40}</span><div class="post-body">{quote}'
        f"<p>Night {number}: the lamp went out twice, and I lit it again both times with what oil was left.<br>More tomorrow."
        "</p></div></div>\n"
    )


def page(part: Callable[[int], str], size: int) -> str:
    """A page of this make with about so many bytes."""
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
    """The least CPU seconds of several runs: what the work costs without the neighbours' noise."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work(html)
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Measure and print a row for each make of page, and one for the parser alone."""
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
