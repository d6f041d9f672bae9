"""What sort of page it is, and what spoke for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pagekeep import extract
from pagekeep.model import Kind

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
PROSE = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))


def structured(**fields: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **fields})}</script>'


ARTICLE = (
    f'<meta property="og:type" content="article">{structured(**{"@type": "NewsArticle", "headline": "The mill"})}'
    f"<article><h1>The mill</h1>{PROSE}</article>"
)
DOCUMENTATION = (
    '<meta name="generator" content="Docusaurus v3"><div class="theme-doc-markdown markdown"><h1>Install</h1>'
    + "<p>Run this in your shell:</p><pre><code>mill install</code></pre>" * 4
    + "</div>"
)
FORUM = (
    structured(**{"@type": "DiscussionForumPosting", "headline": "Wheel stuck"})
    + "<h1>Wheel stuck</h1>"
    + f'<div class="topic-post"><div class="cooked">{SENTENCE}</div></div>' * 5
)
PRODUCT = (
    f'<meta property="og:type" content="product">{structured(**{"@type": "Product", "name": "Hand mill"})}'
    f'<h1>Hand mill</h1><span class="price">30</span><button class="add-to-cart">Add</button><p>{SENTENCE}</p>'
)
COLLECTION = (
    structured(**{"@type": "CollectionPage", "name": "Mills"})
    + "<h1>Mills</h1>"
    + "".join(
        f'<div class="card"><a href="/products/{i}">Mill {i}</a><span class="price">{i}</span></div>' for i in range(24)
    )
)
LISTING = "<h1>All posts</h1>" + f'<article><h2><a href="/a">{SENTENCE}</a></h2><p>Short text.</p></article>' * 12
SERVICE = (
    structured(**{"@type": "Service", "name": "Mill repair"})
    + f"<h1>We repair mills</h1><section><h2>Wheels</h2><p>{SENTENCE}</p></section><section><h2>Stones</h2></section>"
)


@pytest.mark.parametrize(
    ("kind", "html", "url"),
    [
        ("article", ARTICLE, "https://news.example/2024/05/06/the-mill-that-stood-still"),
        ("documentation", DOCUMENTATION, "https://mill.example/docs/install"),
        ("forum", FORUM, "https://forum.example/t/wheel-stuck/12"),
        ("product", PRODUCT, "https://shop.example/product/hand-mill"),
        ("collection", COLLECTION, "https://shop.example/collections/mills"),
        ("listing", LISTING, "https://mill.example/archive"),
        ("service", SERVICE, "https://mill.example/services/repair"),
    ],
)
def test_a_page_is_recognised_with_reasons(kind: Kind, html: str, url: str) -> None:
    page = extract(html, url)
    assert page.kind == kind
    assert page.trace.kind_reasons


def test_a_page_that_says_nothing_is_an_article() -> None:
    page = extract("<p>Words.</p>")
    assert page.kind == "article"
    assert page.trace.kind_reasons == ()


def test_only_reasons_for_the_kind_are_reported() -> None:
    reasons = extract(FORUM, "https://forum.example/blog/12").trace.kind_reasons
    assert "the page calls itself DiscussionForumPosting" in reasons
    assert not any("blog" in reason for reason in reasons)


def test_words_of_the_address_are_whole_words() -> None:
    reasons = extract(PROSE, "https://mill.example/forumla/docstring").trace.kind_reasons
    assert not any("address" in reason for reason in reasons)


def test_a_date_in_the_address_speaks_for_an_article() -> None:
    assert "a date in the address" in extract(PROSE, "https://mill.example/2024/05/wheel").trace.kind_reasons


@pytest.mark.parametrize("url", ["http://[", "http://[::1", "//", ":", "https://\x00/", "a" * 10_000])
def test_a_broken_address_says_nothing(url: str) -> None:
    assert extract(ARTICLE, url).kind == "article"


def test_our_own_corpus_is_recognised_in_four_of_five_pages(own_pages: list[Any]) -> None:
    wrong = {page.name: kind for page in own_pages if (kind := extract(page.data, page.url).kind) != page.gold["kind"]}
    assert len(wrong) <= len(own_pages) // 5, wrong


def test_a_page_of_buttons_without_author_is_a_service() -> None:
    offer = f'<section><h2>Wheels</h2><p>{SENTENCE}</p><a class="btn" href="/ask">Ask for an offer</a></section>' * 9
    page = extract(offer, "https://mill.example/wheels")
    assert page.kind == "service"
    assert "9 buttons, no author and no date" in page.trace.kind_reasons
    signed = (
        "<time>1 May</time>",
        '<meta name="author" content="Ada Reed">',
        structured(author="Ada Reed", **{"@type": "Thing"}),
    )
    for mark in signed:
        assert extract(mark + offer, "https://mill.example/wheels").kind == "article"


def test_cards_with_prices_are_a_collection_and_others_a_listing() -> None:
    card = '<div><h3><a href="/{0}">Hand mill number {0}</a></h3><span class="{1}">{0} crowns</span></div>'
    assert extract("".join(card.format(i, "price") for i in range(20))).kind == "collection"
    assert extract("".join(card.format(i, "note") for i in range(20))).kind == "listing"


def test_an_address_that_ends_in_news_is_a_list_of_news() -> None:
    assert extract(f"<p>{SENTENCE}</p>", "https://mill.example/news/").kind == "listing"
    assert extract(f"<p>{SENTENCE}</p>", "https://mill.example/news/the-wheel-turns").kind == "article"


def test_a_page_that_says_how_to_cite_it_is_an_article() -> None:
    html = f'<meta name="citation_title" content="On wheels"><a class="btn" href="/a">x</a>{PROSE}'
    assert "it states how to cite it" in extract(html).trace.kind_reasons


def test_paragraphs_side_by_side_speak_for_an_article_beside_many_teasers() -> None:
    teasers = '<div><h3><a href="/a">The ferry that came too late again</a></h3><p>Short text.</p></div>' * 30
    page = extract(f"<div>{PROSE}</div>{teasers}")
    assert page.kind == "article"
    assert "8 paragraphs side by side" in page.trace.kind_reasons
    assert extract(f"<div>{PROSE[: PROSE.index('On day 3') - 3]}</div>{teasers}").kind == "listing"


def test_a_letter_counts_only_as_a_part_of_the_path() -> None:
    assert extract("<p>Oak and iron.</p>", "https://mill.example/c/wheels").kind == "collection"
    assert extract("<p>Oak and iron.</p>", "https://mill.example/c23bb1b7/wheels").kind == "article"


def test_a_post_addressed_by_a_query_is_not_a_home_page() -> None:
    html = f"<h1>The mill</h1><div>{PROSE[: len(PROSE) // 2]}</div>"
    post, home = (extract(html, url=f"https://mill.example/{query}") for query in ("?p=959", ""))
    assert (post.kind, home.kind) == ("article", "service")


def test_a_short_article_among_teasers_is_an_article() -> None:
    teasers = "".join(f"<div><h3><a href='/{i}'>Another story {i}</a></h3></div>" for i in range(20))
    prose = f"<p>{SENTENCE} {SENTENCE} {SENTENCE}</p>" * 3
    one = extract(f"<h1>The mill</h1><div>{prose}</div>{teasers}", url="https://mill.example/mill-again")
    other = extract(f"<h1>Stories</h1><div><p>{SENTENCE}</p></div>{teasers}", url="https://mill.example/stories-again")
    assert (one.kind, other.kind) == ("article", "listing")
