"""The strategy `readability`: the innermost element that has the page's prose."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate.page_facts import Content, PageFacts, find_kept, measure
from pagekeep.extraction.locate.strategies import readability
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import prune

FactsOf = Callable[..., PageFacts]
IndexOf = Callable[[Survey, str], int]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))
LONG_STORY = f'<div id="story">{"".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(20))}</div>'
LEAD = f"<div><p>First the water rose. {SENTENCE}</p><p>Then it fell. {SENTENCE} {SENTENCE}</p></div>"
MORE = f"<div><p>Elsewhere on the coast: {SENTENCE}</p></div>"


def decided(facts: PageFacts) -> Content:
    content = readability.locate(facts)
    assert content is not None
    return prune(facts, content)


def text(facts: PageFacts) -> str:
    survey = facts.survey
    return " ".join(text for kept in find_kept(survey, decided(facts)) for text in survey.texts_in(*kept))


def verdict(facts: PageFacts) -> str | None:
    return readability.judge(facts, measure(facts, decided(facts)))


def test_the_innermost_container_of_the_prose_is_chosen(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(
        f'<div id="page"><div id="top">Welcome</div><div id="story">{STORY}</div><div id="more">Short</div></div>'
    )
    assert decided(facts).root == index_of(facts.survey, "#story")
    assert verdict(facts) is None


def test_prose_in_boilerplate_has_no_vote(facts_of: FactsOf, index_of: IndexOf) -> None:
    asides = f'<div class="related-posts"><p>{SENTENCE}</p></div>' * 2
    facts = facts_of(f'<div id="page"><div id="story">{STORY}</div>{asides}</div>')
    assert decided(facts).root == index_of(facts.survey, "#story")


def test_the_container_is_never_a_mere_part_of_the_content(facts_of: FactsOf) -> None:
    long = " ".join([SENTENCE] * 8)
    for html in (
        f"<div><p>{long}</p></div>",
        f"<div><ul><li>{long}</ul></div>",
        f"<div><blockquote><p>{long}</blockquote></div>",
    ):
        facts = facts_of(html)
        assert facts.survey.tag[decided(facts).root] in {"div", "body"}


def test_a_page_without_sentences_has_no_candidate(facts_of: FactsOf) -> None:
    assert readability.locate(facts_of("<div>Home</div><div>About</div>")) is None


def test_pages_of_cards_need_no_sentences(facts_of: FactsOf) -> None:
    cards = "".join(f"<div><h3>Pot {i}</h3><p>Blue glaze, {i} cups</p></div>" for i in range(40))
    assert verdict(facts_of(cards, "collection")) is None


def test_a_result_of_links_is_not_good_enough(facts_of: FactsOf) -> None:
    links = "".join(f'<p>Few words. <a href="/{i}">{SENTENCE}</a> {SENTENCE[:30]}</p>' for i in range(8))
    facts = facts_of(f"<div>{links}<p>{SENTENCE}</p></div>")
    assert "is in links" in (verdict(facts) or "")


def test_a_short_but_complete_page_is_good_enough(facts_of: FactsOf) -> None:
    assert verdict(facts_of(f"<h1>Notice</h1><p>{SENTENCE} {SENTENCE}</p>")) is None


def test_a_short_thread_is_complete_whatever_is_around_it(facts_of: FactsOf) -> None:
    html = f"<footer>{SENTENCE * 9}</footer><main><p>{SENTENCE} {SENTENCE}</p></main>"
    assert verdict(facts_of(html, "forum")) is None
    assert "under 100" in (verdict(facts_of(html, "service")) or "")


def test_on_a_short_page_lines_beside_the_one_paragraph_are_kept(facts_of: FactsOf) -> None:
    lines = "<p>Before the long one.</p>", f"<div><p>{SENTENCE}</p></div>", "<p>And after the long one.</p>"
    facts = facts_of(f"<div>{''.join(lines)}</div>")
    assert measure(facts, decided(facts)).paragraphs == 1
    assert measure(facts, decided(facts)).words == len(" ".join(lines).split())


def test_a_few_words_of_a_longer_page_are_not_good_enough(facts_of: FactsOf) -> None:
    rows = "".join(f"<div>Row {i} of the long register</div>" for i in range(80))
    assert "under 100" in (verdict(facts_of(f"<div>{rows}</div><div><p>{SENTENCE}</p></div>")) or "")


def test_other_stories_and_copies_are_pruned_from_an_article(facts_of: FactsOf, index_of: IndexOf) -> None:
    links = "<ul id=links>" + "".join(f'<li><a href="/{i}">Another story {i}</a></li>' for i in range(5)) + "</ul>"
    facts = facts_of(f"<div>{STORY}{links}<section><p id=copy>On day 0 it was the same. {SENTENCE}</p></section></div>")
    excluded = decided(facts).excluded
    assert excluded[index_of(facts.survey, "#links")] == ("link list", "link-blocks")
    assert excluded[index_of(facts.survey, "#copy")] == ("shown twice", "copies")


def test_locating_changes_nothing_that_other_strategies_use(facts_of: FactsOf) -> None:
    facts = facts_of(f"<nav>x</nav><div>{STORY}</div>")
    before = (dict(facts.excluded), bytes(facts.dead), list(facts.own))
    readability.locate(facts)
    assert (dict(facts.excluded), bytes(facts.dead), list(facts.own)) == before


def test_a_manual_keeps_its_lists_of_links_but_not_its_table_of_contents(facts_of: FactsOf) -> None:
    contents = "".join(f'<li><a href="#part-{i}">Part {i}</a></li>' for i in range(5))
    links = "".join(f'<li><a href="/other-{i}">Other {i}</a></li>' for i in range(5))
    facts = facts_of(f"<div><ul>{contents}</ul>{STORY}<ul>{links}</ul></div>", "documentation")
    assert [exclusion.reason for exclusion in decided(facts).excluded.values()] == ["table of contents"]


def test_an_index_of_a_manual_may_be_mostly_links(facts_of: FactsOf) -> None:
    entries = "".join(
        f'<p><a href="/{i}">Entry number {i} of the long index of the mill</a> since {i}</p>' for i in range(60)
    )
    said = "<p>All the parts of the mill by name, from the cap down to the stones, each with its own page in this manual.</p>"
    facts = facts_of(f"<main><div>{said}{entries}</div></main>", "documentation")
    assert measure(facts, decided(facts)).link_density > 0.6
    assert verdict(facts) is None


def test_paragraphs_between_headline_and_container_are_the_articles(facts_of: FactsOf) -> None:
    facts = facts_of(f"<main><p>Notice</p><h1>The wheel</h1>{LEAD}{LONG_STORY}{MORE}</main>")
    found = text(facts)
    assert found.startswith("First the water rose.")
    assert "On day 11" in found
    assert "Elsewhere" not in found


def test_what_is_beside_an_opening_is_reported_as_removed(facts_of: FactsOf) -> None:
    facts = facts_of(f"<main><h1>The wheel</h1><div>{LEAD}</div><section>{LONG_STORY}{MORE}</section></main>")
    excluded = list(decided(facts).excluded.values())
    assert excluded.count(("beside the content", "locate")) == 2  # the headline and what is after the container
    assert "Elsewhere" not in text(facts)


def test_a_single_paragraph_is_a_standfirst_and_comes_without_what_is_beside_it(facts_of: FactsOf) -> None:
    lead = f"<div><p>{SENTENCE * 4}</p></div><div>Anna Miller</div>"
    found = text(facts_of(f"<main><h1>The wheel</h1>{lead}{LONG_STORY}{MORE}</main>"))
    assert found.startswith(SENTENCE)
    assert "Anna Miller" not in found
    assert "Elsewhere" not in found


def test_blocks_before_the_headline_stay_out(facts_of: FactsOf, index_of: IndexOf) -> None:
    facts = facts_of(f"<main>{LEAD}<h1>The wheel</h1>{LONG_STORY}{MORE}</main>")
    assert decided(facts).root == index_of(facts.survey, "#story")


def test_cards_before_the_container_stay_out(facts_of: FactsOf, index_of: IndexOf) -> None:
    cards = f'<div><a href="/a">{SENTENCE}</a><p>{SENTENCE}</p><a href="/b">{SENTENCE}</a><p>{SENTENCE}</p></div>'
    facts = facts_of(f"<main><h1>The wheel</h1>{cards}{LONG_STORY}{MORE}</main>")
    assert decided(facts).root == index_of(facts.survey, "#story")


def test_a_note_of_fifty_words_is_complete_under_any_menu(facts_of: FactsOf) -> None:
    menu = "".join(f"<div>Sieves, bags and stones {i}</div>" for i in range(80))
    note = f"<h1>Notice</h1><div id=note><p>{SENTENCE} {SENTENCE}</p></div>"
    assert verdict(facts_of(f"<div>{menu}</div>{note}")) is None
