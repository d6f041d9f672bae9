"""Pages that differ in the same way stand together."""

from __future__ import annotations

from pagekeep_lab.comparison_report import find_clusters
from pagekeep_lab.results import ExtractorResult, Pair, compare_results
from pagekeep_lab.scores import Structure

WORDS = " ".join(f"word{n}" for n in range(100))


def made(name: str, a: ExtractorResult, b: ExtractorResult) -> Pair:
    return compare_results(name, None, a, b, kind="article")


def test_each_page_belongs_to_what_it_lacks_most_and_the_largest_group_comes_first() -> None:
    same = ExtractorResult(WORDS)
    pairs = [
        made("same", same, same),
        made("empty", same, ExtractorResult()),
        made("half", same, ExtractorResult(" ".join(WORDS.split()[:40]))),
        made("less", same, ExtractorResult(" ".join(WORDS.split()[:35]))),
        made("more", same, ExtractorResult(f"{WORDS} {WORDS.replace('word', 'menu')[:300]}")),
        made("code", ExtractorResult(WORDS, structure=Structure(code=1)), same),
        made("links", ExtractorResult(WORDS, links=("https://a.example/1", "https://a.example/2")), same),
        made("error", same, ExtractorResult(error="Boom")),
    ]
    found = find_clusters(pairs)
    assert [(one.name, [p.name for p in one.pairs]) for one in found] == [
        ("B lacks more than half", ["less", "half"]),
        ("B failed", ["error"]),
        ("B found nothing", ["empty"]),
        ("B has more text", ["more"]),
        ("code lost in B", ["code"]),
        ("many links lost in B", ["links"]),
    ]
    assert found[0].kinds == "article 2"
