"""What every strategy knows about the page."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content, PageFacts, find_kept, measure

FactsOf = Callable[..., PageFacts]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."


def test_facts_have_boilerplate_and_measures_blocks(facts_of: FactsOf) -> None:
    facts = facts_of(f"<nav>Menu</nav><p>{SENTENCE}</p>")
    assert [exclusion.reason for exclusion in facts.excluded.values()] == ["navigation"]
    assert max(facts.own) == len(SENTENCE)


def test_collecting_facts_leaves_the_tree_alone(facts_of: FactsOf) -> None:
    html = f"<nav>Menu</nav><p>{SENTENCE}</p><div hidden>x</div>"
    facts = facts_of(html)
    assert dom.inner_html(facts.survey.nodes[0]) == dom.inner_html(
        dom.first(dom.parse(html), "body") or dom.element("p")
    )


def test_everything_below_the_root_is_kept_except_exclusions(facts_of: FactsOf) -> None:
    survey = facts_of("<div><nav><b>x</b></nav><p>word</p></div><p>outside</p>").survey
    kept = find_kept(survey, Content(1, {2: "navigation"}))
    assert [survey.tag[first:end] for first, end in kept] == [["div"], ["p", "#text"]]


def test_a_measure_counts_kept_words_paragraphs_and_links(facts_of: FactsOf) -> None:
    facts = facts_of(f'<nav>Some menu words</nav><p>{SENTENCE}</p><p>Short <a href="x">link</a></p>')
    measured = measure(facts, Content(0, facts.excluded))
    assert measured.words == len(SENTENCE.split()) + 2
    assert measured.paragraphs == 1
    assert measured.linked == len("link")
    assert measured.link_density == measured.linked / measured.chars


def test_nothing_has_no_link_density(facts_of: FactsOf) -> None:
    facts = facts_of("<div></div>")
    measured = measure(facts, Content(0, {}))
    assert (measured.words, measured.chars, measured.link_density) == (0, 0, 0)


def test_an_element_that_a_strategy_made_is_measured_by_its_own_text(facts_of: FactsOf) -> None:
    made = dom.element("div", None, dom.element("p", None, "three words here"))
    measured = measure(facts_of("<p>other text entirely</p>"), Content(0, {}, made=made))
    assert measured.words == 3
    assert measured.paragraphs == 1
