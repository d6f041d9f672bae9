"""Pages that differ in the same way stand together."""

from __future__ import annotations

from pagekeep.lab.compare.clusters import clusters
from pagekeep.lab.compare.pairs import Pair, pair
from pagekeep.lab.compare.results import Reading
from pagekeep.lab.report.summary import Structure

WORDS = " ".join(f"word{n}" for n in range(100))


def made(name: str, a: Reading, b: Reading) -> Pair:
    return pair(name, None, a, b, kind="article")


def test_each_page_belongs_to_what_it_lacks_most_and_the_largest_group_comes_first() -> None:
    same = Reading(WORDS)
    pairs = [
        made("same", same, same),
        made("empty", same, Reading()),
        made("half", same, Reading(" ".join(WORDS.split()[:40]))),
        made("less", same, Reading(" ".join(WORDS.split()[:35]))),
        made("more", same, Reading(f"{WORDS} {WORDS.replace('word', 'menu')[:300]}")),
        made("code", Reading(WORDS, structure=Structure(code=1)), same),
        made("links", Reading(WORDS, links=("https://a.example/1", "https://a.example/2")), same),
        made("error", same, Reading(error="Boom")),
    ]
    found = clusters(pairs)
    assert [(one.name, [p.name for p in one.pairs]) for one in found] == [
        ("B lacks more than half", ["less", "half"]),
        ("B failed", ["error"]),
        ("B found nothing", ["empty"]),
        ("B has more text", ["more"]),
        ("code lost in B", ["code"]),
        ("many links lost in B", ["links"]),
    ]
    assert found[0].kinds == "article 2"
