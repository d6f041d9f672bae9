"""What is cut within the content."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep import dom
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import blocks

Surveyed = Callable[[str], Survey]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
OTHER = "Nobody in the village had ever seen the wheel turn backwards, and nobody wanted to be the first to do so."
PROSE = f"<p>{SENTENCE}</p><p>{OTHER}</p>"
LINKS = "<ul>" + "".join(f'<li><a href="/{i}">Another story, number {i}</a></li>' for i in range(4)) + "</ul>"


def texts(found: Survey, indices: dict[int, str]) -> list[str]:
    return [" ".join(dom.text_of(found.nodes[index]).split()) for index in indices]


def test_a_list_of_links_to_other_pages_is_cut(surveyed: Surveyed) -> None:
    found = surveyed(PROSE * 3 + LINKS)
    cut = blocks.link_lists(found, 0, {})
    assert [found.tag[index] for index in cut] == ["ul"]
    assert set(cut.values()) == {"link list"}


def test_a_table_of_contents_is_cut_and_called_so(surveyed: Surveyed) -> None:
    contents = LINKS.replace('href="/', 'href="#part-')
    assert set(blocks.link_lists(surveyed(PROSE * 3 + contents), 0, {}).values()) == {"table of contents"}


def test_buttons_that_lead_nowhere_are_no_table_of_contents(surveyed: Surveyed) -> None:
    for nowhere in ('href="#" data-tab="', 'role="button" data-tab="'):
        assert blocks.link_lists(surveyed(PROSE * 3 + LINKS.replace('href="/', nowhere)), 0, {}) == {}


def test_a_paragraph_with_one_link_stays(surveyed: Surveyed) -> None:
    assert blocks.link_lists(surveyed(PROSE * 3 + '<p><a href="/a">The whole text</a></p>'), 0, {}) == {}


def test_a_list_whose_text_mostly_stands_outside_links_stays(surveyed: Surveyed) -> None:
    items = "".join(f'<li><a href="/{i}">one</a> and what there is to say about it</li>' for i in range(5))
    assert blocks.link_lists(surveyed(f"{PROSE * 3}<ul>{items}</ul>"), 0, {}) == {}


def test_content_that_is_itself_a_list_of_links_stays(surveyed: Surveyed) -> None:
    assert blocks.link_lists(surveyed(LINKS * 3 + "<p>Three lists.</p>"), 0, {}) == {}


def test_what_is_dropped_already_is_not_named_again(surveyed: Surveyed) -> None:
    found = surveyed(f"<nav>{LINKS}</nav>{PROSE * 3}")
    assert blocks.link_lists(found, 0, {1: "navigation"}) == {}


def test_a_block_shown_again_elsewhere_is_cut_once(surveyed: Surveyed) -> None:
    found = surveyed(f'<div class="wide">{PROSE}</div><div class="phone">{PROSE}</div>')
    cut = blocks.copies(found, 0, {})
    assert texts(found, cut) == [SENTENCE, OTHER]
    assert set(cut.values()) == {"shown twice"}
    assert min(cut) > found.end[1] - 1


def test_copies_are_found_whatever_their_white_space(surveyed: Surveyed) -> None:
    found = surveyed(f"<div><p>{SENTENCE}</p></div><div><p>\n  {SENTENCE.replace(' ', '  ')}</p></div>")
    assert texts(found, blocks.copies(found, 0, {})) == [SENTENCE]


def test_a_refrain_among_its_siblings_stays(surveyed: Surveyed) -> None:
    assert blocks.copies(surveyed(f"<div>{PROSE}{PROSE}</div>"), 0, {}) == {}


def test_short_blocks_may_be_said_twice(surveyed: Surveyed) -> None:
    assert blocks.copies(surveyed("<div><p>Yes.</p></div><div><p>Yes.</p></div>"), 0, {}) == {}


def test_the_original_of_a_copy_may_not_be_what_is_dropped(surveyed: Surveyed) -> None:
    found = surveyed(f"<aside><p>{SENTENCE}</p></aside><div><p>{SENTENCE}</p></div>")
    assert blocks.copies(found, 0, {1: "aside"}) == {}


def test_one_link_is_a_list_where_the_page_asks_for_no_more(surveyed: Surveyed) -> None:
    found = surveyed(PROSE * 3 + '<div><a href="/sacks">See all our sacks</a></div>')
    cut = blocks.link_lists(found, 0, {}, 1)
    assert texts(found, cut) == ["See all our sacks"]


def test_any_block_may_be_shown_twice(surveyed: Surveyed) -> None:
    block = "<div>Granite, cut and balanced by hand</div>"
    found = surveyed(f"<section><h1>Millstone</h1>{block}</section><section><h2>Again</h2>{block}</section>")
    assert blocks.copies(found, 0, {}) == {}
    cut = blocks.copies(found, 0, {}, any_block=True)
    assert texts(found, cut) == ["Granite, cut and balanced by hand"]
    assert min(cut) > found.end[1] - 1


def test_a_paragraph_within_an_item_is_no_copy_of_the_item(surveyed: Surveyed) -> None:
    assert blocks.copies(surveyed(f"<ul><li><p>{SENTENCE}</p></li></ul>"), 0, {}, any_block=True) == {}


def test_what_a_long_item_repeats_is_found_inside_it(surveyed: Surveyed) -> None:
    teaser = f"<div>{SENTENCE}</div>"
    found = surveyed(f"<ul><li>{teaser}<p>{OTHER}</p></li><li>{teaser}<p>No.</p></li></ul>")
    assert texts(found, blocks.copies(found, 0, {}, any_block=True)) == [SENTENCE]


def test_cells_of_a_table_may_say_the_same(surveyed: Surveyed) -> None:
    row = "<tr><td>as long as the stones are turned</td></tr>"
    assert blocks.copies(surveyed(f"<table>{row * 3}</table>"), 0, {}, any_block=True) == {}


def test_a_list_that_leads_to_other_hosts_names_sources_and_stays(surveyed: Surveyed) -> None:
    sources = LINKS.replace('href="/', 'href="https://archive.example/')
    found = surveyed(PROSE * 3 + sources)
    assert blocks.link_lists(found, 0, {}, host="mill.example") == {}
    assert set(blocks.link_lists(found, 0, {}, host="archive.example").values()) == {"link list"}


def test_buttons_that_lead_to_shops_are_no_sources(surveyed: Surveyed) -> None:
    buttons = "".join(f'<a href="https://shop.example/{i}">Look at the price in shop {i}</a>' for i in range(4))
    assert blocks.link_lists(surveyed(f"{PROSE * 3}<div>{buttons}</div>"), 0, {}, host="mill.example")


def test_a_section_with_a_sentence_loses_only_its_list(surveyed: Surveyed) -> None:
    found = surveyed(
        f"{PROSE * 3}<section><h2>News</h2><p>Other mills have had a good year as well.</p>{LINKS * 2}</section>"
    )
    cut = blocks.link_lists(found, 0, {})
    assert [found.tag[index] for index in cut] == ["ul", "ul"]
