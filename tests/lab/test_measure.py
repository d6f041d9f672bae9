from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pagekeep.model import Link, Media, Page
from pagekeep_lab import format_table, run
from pagekeep_lab.evaluate import count_structure

AddPage = Callable[..., Path]
Echo = Callable[[bytes, str | None], Page]


def test_every_page_is_scored(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", "one two three four")
    corpus = add_page("b", "one two buy now", kind="product", title="")
    report = run(corpus, extractor=echoing)
    good, poor = report.pages
    assert (good.name, good.rank, good.similarity, good.with_hits, good.without_hits) == ("a", 1.0, 1.0, 1, 0)
    assert (
        poor.rank,
        poor.words and poor.words.missing,
        poor.words and poor.words.extra,
        poor.with_hits,
        poor.without_hits,
    ) == (0.5, 2, 2, 0, 1)
    assert (good.title_right, poor.title_right) == (False, None)
    assert (good.found_kind, good.strategy, good.level) == ("article", "readability", "article")


def test_a_page_that_raises_scores_nothing_and_stops_nothing(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", "boom", links=["https://example.com/x"])
    corpus = add_page("b")
    report = run(corpus, extractor=echoing)
    failed = report.pages[0]
    assert (failed.error, failed.rank, failed.title_right, failed.words and failed.words.missing) == (
        "ZeroDivisionError",
        0.0,
        False,
        4,
    )
    assert failed.links == (0.0, 1, 0)
    assert (report.summary["all"].f1, report.summary["all"].ok, report.summary["all"].errors) == (0.5, 1, 1)


def test_a_page_that_raises_scores_nothing_even_where_nothing_was_wanted(add_page: AddPage, echoing: Echo) -> None:
    report = run(add_page("a", "boom", text=""), extractor=echoing)
    assert report.pages[0].rank == 0.0


def test_metadata_links_and_media_are_compared(add_page: AddPage, make_page: Callable[..., Page]) -> None:
    corpus = add_page("a", links=["https://example.com/x"], images=["https://example.com/i.png"], videos=[])
    page = make_page(
        "one",
        title="The blue door",
        author="Ada Quist",
        published="2024-05-07",
        links=(Link("https://example.com/x/", "x"),),
        media=(Media("video", "https://example.com/v"), Media("image", "https://example.com/j.png")),
    )
    score = run(corpus, extractor=lambda html, url: page).pages[0]
    assert (score.title_right, score.author_right, score.date_right) == (True, True, False)
    assert (score.links, score.images, score.videos) == ((1.0, 0, 0), (0.0, 1, 1), (None, 0, 1))


def test_summary_has_all_first_and_then_the_kinds_that_occur(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", kind="service")
    corpus = add_page("b", kind="article", html="nothing")
    report = run(corpus, extractor=echoing)
    assert list(report.summary) == ["all", "article", "service"]
    assert [row.f1 for row in report.summary.values()] == [0.5, 0.0, 1.0]
    assert report.summary["all"].kind_accuracy == 0.5


def test_table_has_a_row_a_kind_and_a_dash_for_the_unknown(add_page: AddPage, echoing: Echo) -> None:
    head, every, _kind = format_table(run(add_page("a", author=None), extractor=echoing))
    row = dict(zip(head, every, strict=True))
    assert (row["kind"], row["pages"], row["F1"], row["author"], row["title"]) == ("all", "1", "1.000", "-", "0.000")


def test_worst_pages_come_first(add_page: AddPage, echoing: Echo) -> None:
    add_page("a")
    add_page("b", "boom")
    corpus = add_page("c", "one two")
    assert [page.name for page in run(corpus, extractor=echoing).worst(2)] == ["b", "c"]


def test_limit_measures_that_many(add_page: AddPage, echoing: Echo) -> None:
    for name in "abcd":
        corpus = add_page(name)
    assert [page.name for page in run(corpus, limit=2, extractor=echoing).pages] == ["a", "c"]


def test_processes_give_what_one_process_gives() -> None:
    corpus = Path(__file__).parents[1] / "corpus"
    alone, together = run(corpus, limit=4, workers=1), run(corpus, limit=4, workers=2)
    assert [(page.name, page.result) for page in together.pages] == [(page.name, page.result) for page in alone.pages]


@pytest.mark.parametrize(
    ("html", "part"),
    [
        ("<p>x</p>", "paragraphs"),
        ("<dl><dt>x</dt></dl>", "lists"),
        ("<blockquote>x</blockquote>", "quotes"),
        ("<pre><code>x</code></pre>", "code"),
        ("<table><tbody><tr><td>x</td></tr></tbody></table>", "tables"),
        ("<figure><img><figcaption>x</figcaption></figure>", "captions"),
    ],
)
def test_structure_is_counted(html: str, part: str) -> None:
    counts = count_structure(html * 3)
    assert getattr(counts, part) == 3
    assert sum(getattr(counts, name) for name in counts.__dataclass_fields__) == 3


def test_pages_with_snippets_only_are_scored_by_them(add_page: AddPage, echoing: Echo) -> None:
    add_page("a", "one two three four", text=None, title=None, author=None, published=None)
    corpus = add_page("b", "one buy now", text=None, title=None, author=None, published=None)
    report = run(corpus, extractor=echoing)
    every = report.summary["all"]
    assert [page.rank for page in report.pages] == [1.0, 0.0]
    assert (every.f1, every.similarity) == (None, None)
    assert (every.snippet_precision, every.with_share, every.snippet_f1) == (0.5, 0.5, 0.5)


def test_a_byline_is_measured_without_text_and_kind(add_page: AddPage, make_page: Callable[..., Page]) -> None:
    corpus = add_page("a")
    reference = {"url": "https://example.com/a", "title": "The Blue Door", "author": None, "first_words": "One two"}
    (corpus / "a.json").write_text(json.dumps(reference), "utf-8")
    report = run(corpus, extractor=lambda html, url: make_page("One two three.", title="The Blue Door"))
    (page,) = report.pages
    assert (page.kind, page.words, page.title_right, page.author_right, page.with_hits) == (
        "article",
        None,
        True,
        None,
        1,
    )
