"""Lists of teasers have no vote on where an article is."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate import boilerplate, survey
from pagekeep.extraction.locate.page_facts import PageFacts
from pagekeep.extraction.locate.strategies import readability
from pagekeep.extraction.locate.survey import Survey

Surveyed = Callable[[str], Survey]
FactsOf = Callable[..., PageFacts]
IndexOf = Callable[[Survey, str], int]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(10))
TEASER = f'<li><h3><a href="/other">The ferry that came too late</a></h3><p>{SENTENCE} {SENTENCE}</p></li>'


def voting(found: Survey) -> list[int]:
    return boilerplate.remove_teaser_votes(found, survey.measure_own_text(found), 40)


def test_teasers_below_an_article_have_no_vote(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(f"<article>{STORY}</article><ul>{TEASER * 20}</ul>")
    votes = voting(found)
    assert sum(votes[index_of(found, "ul") :]) == 0
    assert sum(votes) == sum(survey.measure_own_text(found)[: index_of(found, "ul")])


def test_a_stream_longer_than_the_article_does_not_hide_it(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(f'<div><div id="story">{STORY}</div><div><ul>{TEASER * 30}</ul></div></div>')
    content = readability.locate(facts)
    assert content is not None
    assert content.root == index_of(facts.survey, "#story")


def test_teasers_vote_where_there_is_no_other_text(surveyed: Surveyed) -> None:
    found = surveyed(f"<p>{SENTENCE}</p><ul>{TEASER * 20}</ul>")
    assert voting(found) == survey.measure_own_text(found)


def test_steps_and_lists_of_links_are_not_teasers(surveyed: Surveyed) -> None:
    step = f"<li><b>Open the sluice.</b> {SENTENCE}</li>"
    link = '<li><a href="/a">The ferry that came too late again</a></li>'
    found = surveyed(f"{STORY}<ol>{step * 9}</ol><ul>{link * 9}</ul>")
    assert voting(found) == survey.measure_own_text(found)


def test_three_teasers_are_too_few(surveyed: Surveyed) -> None:
    found = surveyed(f"{STORY}<ul>{TEASER * 3}</ul>")
    assert voting(found) == survey.measure_own_text(found)


def test_teasers_with_headings_are_removed_within_the_container(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(f"<div><div>{STORY}</div><div>{STORY}</div><ul>{TEASER * 30}</ul></div>")
    assert facts.excluded == {index_of(facts.survey, "ul"): ("teasers", "teaser-lists")}


def test_items_with_links_but_no_headings_stay(facts_of: FactsOf) -> None:
    item = f'<li><a href="/other">The ferry that came too late</a> {SENTENCE} {SENTENCE}</li>'
    assert facts_of(f"<div>{STORY}<ul>{item * 8}</ul></div>").excluded == {}
