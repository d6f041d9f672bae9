"""Measure what rules cost a page that they do not match: CPU milliseconds with no rules, the shipped ones, and 2,000.

`python bench/rules.py [CORPUS] [--pages 60]`. Goals: 2,000 rules take less than 1 ms more than none, the shipped ones less
than 0.5 ms. The 2,000 are generated with the shares of real rule sets: most match by host, then by class, id, part of a
class, generator, and one in a hundred by an attribute or element.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from time import process_time

from pagekeep import dom
from pagekeep.rules import Rulebook, loading

URL = "https://www.unknown.example/page"
ROUNDS = 7
SHIPPED_FILES = sorted((Path(loading.__file__).parent / "sites").glob("*.yaml"))


def trigger(number: int) -> str:
    share = number % 100
    if share < 45:
        return f"host: {{equals: site{number}.example.com}}"
    if share < 65:
        return f"host: {{ends_with: site{number}.example.org}}"
    if share < 88:
        return f'dom: {{any: [".made-up-{number}", "div.made-up-box-{number} > p"]}}'
    if share < 93:
        return f'dom: {{any: "#made-up-{number}"}}'
    if share < 96:
        return f"dom: {{any: '[class*=\"made-up-{number}-\"]'}}"
    if share < 99:
        return f'dom: {{all: \'meta[name="generator"][content*="MadeUp{number}"]\'}}'
    return f"dom: {{any: ['[data-made-up-{number}]', made-up-{number}]}}"


def made_up(count: int) -> str:
    """Return a file with this many rules that match nothing."""
    return "".join(
        f"- id: rule-{number}\n  phase: {('pre', 'both')[number % 2]}\n  trigger: {{{trigger(number)}}}\n"
        f'  remove: [".ad-{number}", ".promo"]\n'
        for number in range(count)
    )


def pages(corpus: Path, count: int) -> list[dom.Document]:
    files = sorted([*corpus.glob("*.html"), *corpus.glob("*.html.gz")])
    chosen = files[:: max(1, len(files) // count)][:count]
    return [dom.parse(_bytes(file).decode("utf-8", "replace")) for file in chosen]


def _bytes(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def best(work: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest round, to leave out the noise of other processes."""
    times = []
    for _ in range(ROUNDS):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return min(times) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, default=Path("tests/corpus"))
    parser.add_argument("--pages", type=int, default=60)
    arguments = parser.parse_args()
    documents = pages(arguments.corpus, arguments.pages)
    if not documents:
        print(f"There are no pages in {arguments.corpus}.", file=sys.stderr)
        return 2
    shipped_texts = [(file.name, file.read_bytes()) for file in SHIPPED_FILES]
    many = made_up(2_000)
    loads = {
        "shipped": lambda: [rule for name, text in shipped_texts for rule in loading.read(text, name).rules],
        "2,000 made up": lambda: list(loading.read(many, "many.yaml").rules),
    }
    elements = mean(len(dom.select(document, "*")) for document in documents)
    print(f"{len(documents)} pages of {elements:,.0f} elements on average")
    print(f"{'rules':>14} {'number':>7} {'load ms':>8} {'match ms/page':>14}")
    for name, rules in {"none": [], **{name: load() for name, load in loads.items()}}.items():
        book = Rulebook(tuple(rules))
        matching = best(lambda book=book: [book.match("pre", URL, document) for document in documents])
        loading_time = best(loads[name]) if name in loads else 0.0
        print(f"{name:>14} {len(rules):>7,} {loading_time:>8.1f} {matching / len(documents):>14.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
