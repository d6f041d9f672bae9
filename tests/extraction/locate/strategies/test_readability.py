"""Level 1: the innermost element that holds the page's prose."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate.page_facts import Content, Reading, measure
from pagekeep.extraction.locate.strategies import readability
from pagekeep.extraction.locate.survey import Survey

ReadAs = Callable[..., Reading]
IndexOf = Callable[[Survey, str], int]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = "".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(8))


def decided(reading: Reading) -> Content:
    content = readability.decide(reading)
    assert content is not None
    return content


def verdict(reading: Reading) -> str | None:
    return readability.judge(reading, measure(reading, decided(reading)))


def test_the_innermost_container_of_the_prose_is_chosen(read_as: ReadAs, index_of: IndexOf) -> None:
    reading = read_as(
        f'<div id="page"><div id="top">Welcome</div><div id="story">{STORY}</div><div id="more">Short</div></div>'
    )
    assert decided(reading).root == index_of(reading.survey, "#story")
    assert verdict(reading) is None


def test_prose_in_boilerplate_has_no_vote(read_as: ReadAs, index_of: IndexOf) -> None:
    asides = f'<div class="related-posts"><p>{SENTENCE}</p></div>' * 2
    reading = read_as(f'<div id="page"><div id="story">{STORY}</div>{asides}</div>')
    assert decided(reading).root == index_of(reading.survey, "#story")


def test_the_container_is_never_a_mere_part_of_the_content(read_as: ReadAs) -> None:
    long = " ".join([SENTENCE] * 8)
    for html in (
        f"<div><p>{long}</p></div>",
        f"<div><ul><li>{long}</ul></div>",
        f"<div><blockquote><p>{long}</blockquote></div>",
    ):
        reading = read_as(html)
        assert reading.survey.tag[decided(reading).root] in {"div", "body"}


def test_a_page_without_sentences_has_no_candidate(read_as: ReadAs) -> None:
    assert readability.decide(read_as("<div>Home</div><div>About</div>")) is None


def test_pages_of_cards_need_no_sentences(read_as: ReadAs) -> None:
    cards = "".join(f"<div><h3>Pot {i}</h3><p>Blue glaze, {i} cups</p></div>" for i in range(40))
    assert verdict(read_as(cards, "collection")) is None


def test_a_result_of_links_is_not_good_enough(read_as: ReadAs) -> None:
    links = "".join(f'<p>Few words. <a href="/{i}">{SENTENCE}</a> {SENTENCE[:30]}</p>' for i in range(8))
    reading = read_as(f"<div>{links}<p>{SENTENCE}</p></div>")
    assert "stands in links" in (verdict(reading) or "")


def test_a_short_but_complete_page_is_good_enough(read_as: ReadAs) -> None:
    assert verdict(read_as(f"<h1>Notice</h1><p>{SENTENCE} {SENTENCE}</p>")) is None


def test_a_short_thread_is_complete_whatever_the_forum_says_around_it(read_as: ReadAs) -> None:
    html = f"<footer>{SENTENCE * 9}</footer><main><p>{SENTENCE} {SENTENCE}</p></main>"
    assert verdict(read_as(html, "forum")) is None
    assert "under 100" in (verdict(read_as(html, "service")) or "")


def test_on_a_short_page_lines_beside_the_one_paragraph_are_kept(read_as: ReadAs) -> None:
    lines = "<p>Before the long one.</p>", f"<div><p>{SENTENCE}</p></div>", "<p>And after the long one.</p>"
    reading = read_as(f"<div>{''.join(lines)}</div>")
    assert measure(reading, decided(reading)).paragraphs == 1
    assert measure(reading, decided(reading)).words == len(" ".join(lines).split())


def test_a_few_words_of_a_longer_page_are_not_good_enough(read_as: ReadAs) -> None:
    rows = "".join(f"<div>Row {i} of the long register</div>" for i in range(80))
    assert "under 100" in (verdict(read_as(f"<div>{rows}</div><div><p>{SENTENCE}</p></div>")) or "")


def test_other_stories_and_copies_are_pruned_from_an_article(read_as: ReadAs, index_of: IndexOf) -> None:
    links = "<ul id=links>" + "".join(f'<li><a href="/{i}">Another story {i}</a></li>' for i in range(5)) + "</ul>"
    reading = read_as(
        f"<div>{STORY}{links}<section><p id=copy>On day 0 it was the same. {SENTENCE}</p></section></div>"
    )
    dropped = decided(reading).dropped
    assert dropped[index_of(reading.survey, "#links")] == "link list"
    assert dropped[index_of(reading.survey, "#copy")] == "shown twice"


def test_deciding_changes_nothing_that_other_levels_see(read_as: ReadAs) -> None:
    reading = read_as(f"<nav>x</nav><div>{STORY}</div>")
    before = (dict(reading.dropped), bytes(reading.dead), list(reading.own))
    readability.decide(reading)
    assert (dict(reading.dropped), bytes(reading.dead), list(reading.own)) == before


def test_a_manual_keeps_its_lists_of_links_but_not_its_table_of_contents(read_as: ReadAs) -> None:
    contents = "".join(f'<li><a href="#part-{i}">Part {i}</a></li>' for i in range(5))
    links = "".join(f'<li><a href="/other-{i}">Other {i}</a></li>' for i in range(5))
    reading = read_as(f"<div><ul>{contents}</ul>{STORY}<ul>{links}</ul></div>", "documentation")
    assert list(decided(reading).dropped.values()) == ["table of contents"]


def test_an_index_of_a_manual_may_be_mostly_links(read_as: ReadAs) -> None:
    entries = "".join(
        f'<p><a href="/{i}">Entry number {i} of the long index of the mill</a> since {i}</p>' for i in range(60)
    )
    said = "<p>All the parts of the mill by name, from the cap down to the stones, each with its own page in this manual.</p>"
    reading = read_as(f"<main><div>{said}{entries}</div></main>", "documentation")
    assert measure(reading, decided(reading)).link_density > 0.6
    assert verdict(reading) is None
