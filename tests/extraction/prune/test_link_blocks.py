"""Blocks of links within the content."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep import dom
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import strays

Surveyed = Callable[[str], Survey]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
OTHER = "Nobody in the village had ever seen the wheel turn backwards, and nobody wanted to be the first to do so."
PROSE = f"<p>{SENTENCE}</p><p>{OTHER}</p>"
LINKS = "<ul>" + "".join(f'<li><a href="/{i}">Another story, number {i}</a></li>' for i in range(4)) + "</ul>"
LINK = '<a href="/sacks">How sacks are counted</a>'


def texts(found: Survey, indices: dict[int, str]) -> list[str]:
    return [" ".join(dom.text_of(found.nodes[index]).split()) for index in indices]


def lone_links(survey: Survey, excluded: dict[int, str] | None = None) -> list[tuple[str, str]]:
    cut = strays.find_lone_links(survey, 0, excluded or {})
    return [(" ".join(dom.text_of(survey.nodes[index]).split()), reason) for index, reason in cut.items()]


def test_a_list_of_links_to_other_pages_is_cut(surveyed: Surveyed) -> None:
    found = surveyed(PROSE * 3 + LINKS)
    cut = strays.find_link_blocks(found, 0, {})
    assert [found.tag[index] for index in cut] == ["ul"]
    assert set(cut.values()) == {"link list"}


def test_a_table_of_contents_is_found(surveyed: Surveyed) -> None:
    contents = LINKS.replace('href="/', 'href="#part-')
    assert set(strays.find_link_blocks(surveyed(PROSE * 3 + contents), 0, {}).values()) == {"table of contents"}


def test_buttons_that_lead_nowhere_are_not_a_table_of_contents(surveyed: Surveyed) -> None:
    for nowhere in ('href="#" data-tab="', 'role="button" data-tab="'):
        assert strays.find_link_blocks(surveyed(PROSE * 3 + LINKS.replace('href="/', nowhere)), 0, {}) == {}


def test_a_paragraph_with_one_link_stays(surveyed: Surveyed) -> None:
    assert strays.find_link_blocks(surveyed(PROSE * 3 + '<p><a href="/a">The whole text</a></p>'), 0, {}) == {}


def test_a_list_with_most_text_outside_links_stays(surveyed: Surveyed) -> None:
    items = "".join(f'<li><a href="/{i}">one</a> and what there is to say about it</li>' for i in range(5))
    assert strays.find_link_blocks(surveyed(f"{PROSE * 3}<ul>{items}</ul>"), 0, {}) == {}


def test_content_that_is_itself_a_list_of_links_stays(surveyed: Surveyed) -> None:
    assert strays.find_link_blocks(surveyed(LINKS * 3 + "<p>Three lists.</p>"), 0, {}) == {}


def test_what_is_excluded_already_is_not_found_again(surveyed: Surveyed) -> None:
    found = surveyed(f"<nav>{LINKS}</nav>{PROSE * 3}")
    assert strays.find_link_blocks(found, 0, {1: "navigation"}) == {}


def test_one_link_is_a_list_where_the_page_asks_for_no_more(surveyed: Surveyed) -> None:
    found = surveyed(PROSE * 3 + '<div><a href="/sacks">See all our sacks</a></div>')
    cut = strays.find_link_blocks(found, 0, {}, 1)
    assert texts(found, cut) == ["See all our sacks"]


def test_a_list_that_leads_to_other_hosts_names_sources_and_stays(surveyed: Surveyed) -> None:
    sources = LINKS.replace('href="/', 'href="https://archive.example/')
    found = surveyed(PROSE * 3 + sources)
    assert strays.find_link_blocks(found, 0, {}, host="mill.example") == {}
    assert set(strays.find_link_blocks(found, 0, {}, host="archive.example").values()) == {"link list"}


def test_buttons_that_lead_to_shops_are_not_sources(surveyed: Surveyed) -> None:
    buttons = "".join(f'<a href="https://shop.example/{i}">Look at the price in shop {i}</a>' for i in range(4))
    assert strays.find_link_blocks(surveyed(f"{PROSE * 3}<div>{buttons}</div>"), 0, {}, host="mill.example")


def test_a_section_with_a_sentence_loses_only_its_list(surveyed: Surveyed) -> None:
    found = surveyed(
        f"{PROSE * 3}<section><h2>News</h2><p>Other mills have had a good year as well.</p>{LINKS * 2}</section>"
    )
    cut = strays.find_link_blocks(found, 0, {})
    assert [found.tag[index] for index in cut] == ["ul", "ul"]


def test_a_box_that_is_only_a_link_goes(surveyed: Surveyed) -> None:
    html = f"{PROSE}<div><b>{LINK}</b></div>{PROSE}"
    assert lone_links(surveyed(html)) == [("How sacks are counted", "link in a box")]


def test_a_box_with_text_or_blocks_stays(surveyed: Surveyed) -> None:
    assert lone_links(surveyed(f"<div>Read here {LINK} or ask the miller himself</div>")) == []
    assert lone_links(surveyed(f"<div><h2>{LINK}</h2></div>")) == []
    assert lone_links(surveyed("<div><img src=a></div>")) == []


def test_paragraphs_of_a_link_each_go_from_the_third_on(surveyed: Surveyed) -> None:
    assert len(lone_links(surveyed(f"{PROSE}<p>{LINK}</p> <p>{LINK}</p>\n<p>{LINK}</p> <p>{LINK}</p>{PROSE}"))) == 4
    assert lone_links(surveyed(f"{PROSE}<p>{LINK}</p><p>{LINK}</p>{PROSE}<p>{LINK}</p>")) == []


def test_links_in_sentences_and_lists_stay(surveyed: Surveyed) -> None:
    assert (
        lone_links(surveyed(f"<p>See {LINK} for more on this.</p>" * 4 + f"<ul><li>{LINK}<li>{LINK}<li>{LINK}</ul>"))
        == []
    )


def test_lone_links_within_an_excluded_part_are_not_found_again(surveyed: Surveyed) -> None:
    survey = surveyed(f"<nav><div>{LINK}</div></nav>")
    assert lone_links(survey, {1: "navigation"}) == []
