"""The strategy `simplified`: usual places of content, each checked before it is accepted."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts
from pagekeep.extraction.locate.strategies import simplified
from pagekeep.extraction.locate.survey import Survey

FactsOf = Callable[..., PageFacts]
IndexOf = Callable[[Survey, str], int]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))
TITLE = "<title>The mill</title>"


def decided(facts: PageFacts) -> Content:
    content = simplified.locate(facts)
    assert content is not None
    return content


@pytest.mark.parametrize(
    "place",
    [
        '<article id="it">{}</article>',
        '<main id="it">{}</main>',
        '<div id="it" role="main">{}</div>',
        '<div id="it" role="article">{}</div>',
        '<div id="it" itemprop="articleBody">{}</div>',
        '<div id="it" class="post-content">{}</div>',
        '<div id="it" class="entry-content wide">{}</div>',
        '<div id="it" class="article-body">{}</div>',
        '<div id="it" class="story-body">{}</div>',
    ],
)
def test_the_usual_places_are_found(facts_of: FactsOf, index_of: IndexOf, place: str) -> None:
    facts = facts_of(f"{TITLE}<div><p>Before</p>{place.format(STORY)}<p>After</p></div>")
    assert decided(facts).root == index_of(facts.survey, "#it")


def test_an_article_element_is_preferred_to_a_named_one(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(f'{TITLE}<div class="entry-content">{STORY}</div><article>{STORY}</article>')
    assert decided(facts).root == index_of(facts.survey, "article")


def test_a_usual_place_that_is_empty_is_passed_over(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(f'{TITLE}<article>Loading</article><div class="entry-content">{STORY}</div>')
    assert decided(facts).root == index_of(facts.survey, ".entry-content")


def test_without_usual_places_the_densest_block_is_found(facts_of: FactsOf, index_of: IndexOf) -> None:
    wrapped = "".join(f'<p class="para para-first" data-part="p-{i}">{SENTENCE}</p>' for i in range(8))
    facts = facts_of(f'{TITLE}<div id="thin">{wrapped}</div><div id="dense">{STORY}</div>')
    assert decided(facts).root == index_of(facts.survey, "#dense")


def test_a_body_in_structured_data_is_preferred(facts_of: FactsOf) -> None:
    lines = [f"Line {i}: {SENTENCE}" for i in range(8)]
    data = json.dumps({"@type": "NewsArticle", "headline": "The mill", "articleBody": "\n\n".join(lines)})
    content = decided(facts_of(f'<script type="application/ld+json">{data}</script><article>{STORY}</article>'))
    assert content.made is not None
    assert [dom.text_of(child) for child in content.made.children] == lines


def test_a_place_full_of_links_is_rejected(facts_of: FactsOf) -> None:
    links = "".join(f'<p><a href="/{i}">{SENTENCE}</a></p>' for i in range(8))
    assert simplified.locate(facts_of(f"{TITLE}<article>{links}</article>")) is None


def test_a_page_without_date_author_or_headline_is_rejected(facts_of: FactsOf) -> None:
    assert simplified.locate(facts_of(f"<article>{STORY}</article>")) is None
    assert simplified.locate(facts_of(f"<h1>The mill</h1><article>{STORY}</article>")) is not None


def test_a_short_page_has_no_candidate(facts_of: FactsOf) -> None:
    assert simplified.locate(facts_of(f"{TITLE}<article><p>{SENTENCE}</p></article>")) is None


def test_fewer_than_a_hundred_words_are_not_good_enough(facts_of: FactsOf) -> None:
    facts = facts_of("<p>x</p>")
    assert "99 words" in (simplified.judge(facts, Measure(99, 500, 0, 5)) or "")
    assert simplified.judge(facts, Measure(100, 500, 0, 5)) is None
