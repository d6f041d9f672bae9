"""The opening of an article that stands before its container."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate.page_facts import Content, Reading, kept
from pagekeep.extraction.locate.strategies import readability
from pagekeep.extraction.locate.survey import TEXT, Survey

ReadAs = Callable[..., Reading]
IndexOf = Callable[[Survey, str], int]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
STORY = f'<div id="story">{"".join(f"<p>On day {i} it was the same. {SENTENCE}</p>" for i in range(20))}</div>'
LEAD = f"<div><p>First the water rose. {SENTENCE}</p><p>Then it fell. {SENTENCE} {SENTENCE}</p></div>"
MORE = f"<div><p>Elsewhere on the coast: {SENTENCE}</p></div>"


def decided(reading: Reading) -> Content:
    content = readability.decide(reading)
    assert content is not None
    return content


def text(reading: Reading) -> str:
    survey = reading.survey
    texts = [index for index in kept(survey, decided(reading)) if survey.tag[index] == TEXT]
    return " ".join(survey.nodes[index].data for index in texts)  # type: ignore[attr-defined]


def test_paragraphs_between_headline_and_container_are_the_articles(read_as: ReadAs) -> None:
    reading = read_as(f"<main><p>Notice</p><h1>The wheel</h1>{LEAD}{STORY}{MORE}</main>")
    found = text(reading)
    assert found.startswith("First the water rose.")
    assert "On day 11" in found
    assert "Elsewhere" not in found


def test_what_stands_beside_an_opening_is_told_as_removed(read_as: ReadAs) -> None:
    reading = read_as(f"<main><h1>The wheel</h1><div>{LEAD}</div><section>{STORY}{MORE}</section></main>")
    dropped = decided(reading).dropped
    assert list(dropped.values()).count("beside the content") == 2  # the headline and what stands behind
    assert "Elsewhere" not in text(reading)


def test_a_single_paragraph_is_a_summary_and_stays_out(read_as: ReadAs, index_of: IndexOf) -> None:
    reading = read_as(f"<main><h1>The wheel</h1><div><p>{SENTENCE * 4}</p></div>{STORY}{MORE}</main>")
    assert decided(reading).root == index_of(reading.survey, "#story")


def test_blocks_before_the_headline_stay_out(read_as: ReadAs, index_of: IndexOf) -> None:
    reading = read_as(f"<main>{LEAD}<h1>The wheel</h1>{STORY}{MORE}</main>")
    assert decided(reading).root == index_of(reading.survey, "#story")


def test_cards_before_the_container_stay_out(read_as: ReadAs, index_of: IndexOf) -> None:
    cards = f'<div><a href="/a">{SENTENCE}</a><p>{SENTENCE}</p><a href="/b">{SENTENCE}</a><p>{SENTENCE}</p></div>'
    reading = read_as(f"<main><h1>The wheel</h1>{cards}{STORY}{MORE}</main>")
    assert decided(reading).root == index_of(reading.survey, "#story")
