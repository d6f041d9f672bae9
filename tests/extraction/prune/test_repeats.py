"""Text that the page shows more than once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import repeats

Surveyed = Callable[[str], Survey]

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still."
OTHER = "Nobody in the village had ever seen the wheel turn backwards, and nobody wanted to be the first to do so."
PROSE = f"<p>{SENTENCE}</p><p>{OTHER}</p>"
QUESTION = "Does anybody know how to keep the great wheel from freezing when the stream runs low in January?"
ANSWER = "We hang sacks of straw over the axle every evening, and the ice has never reached the bearings since."
ELSEWHERE = "An old almanac says that a wheel which turns one hour in every four will not freeze at all."
REMARK = "Which straw do you take for that, the long one from the upper fields or the short one?"


def texts(found: Survey, indices: dict[int, str]) -> list[str]:
    return [" ".join(dom.text_of(found.nodes[index]).split()) for index in indices]


def post(*parts: str) -> str:
    return f"<div class='post'>{''.join(parts)}</div>"


def test_a_block_shown_again_elsewhere_is_cut_once(surveyed: Surveyed) -> None:
    found = surveyed(f'<div class="wide">{PROSE}</div><div class="phone">{PROSE}</div>')
    cut = repeats.find_copies(found, 0, {})
    assert texts(found, cut) == [SENTENCE, OTHER]
    assert set(cut.values()) == {"shown twice"}
    assert min(cut) > found.end[1] - 1


def test_copies_are_found_whatever_their_white_space(surveyed: Surveyed) -> None:
    found = surveyed(f"<div><p>{SENTENCE}</p></div><div><p>\n  {SENTENCE.replace(' ', '  ')}</p></div>")
    assert texts(found, repeats.find_copies(found, 0, {})) == [SENTENCE]


def test_a_refrain_among_its_siblings_stays(surveyed: Surveyed) -> None:
    assert repeats.find_copies(surveyed(f"<div>{PROSE}{PROSE}</div>"), 0, {}) == {}


def test_short_blocks_may_appear_twice(surveyed: Surveyed) -> None:
    assert repeats.find_copies(surveyed("<div><p>Yes.</p></div><div><p>Yes.</p></div>"), 0, {}) == {}


def test_an_excluded_block_is_not_the_original_of_a_copy(surveyed: Surveyed) -> None:
    found = surveyed(f"<aside><p>{SENTENCE}</p></aside><div><p>{SENTENCE}</p></div>")
    assert repeats.find_copies(found, 0, {1: "aside"}) == {}


def test_any_block_may_be_shown_twice(surveyed: Surveyed) -> None:
    block = "<div>Granite, cut and balanced by hand</div>"
    found = surveyed(f"<section><h1>Millstone</h1>{block}</section><section><h2>Again</h2>{block}</section>")
    assert repeats.find_copies(found, 0, {}) == {}
    cut = repeats.find_copies(found, 0, {}, any_block=True)
    assert texts(found, cut) == ["Granite, cut and balanced by hand"]
    assert min(cut) > found.end[1] - 1


def test_a_paragraph_within_an_item_is_not_a_copy_of_the_item(surveyed: Surveyed) -> None:
    assert repeats.find_copies(surveyed(f"<ul><li><p>{SENTENCE}</p></li></ul>"), 0, {}, any_block=True) == {}


def test_what_a_long_item_repeats_is_found_inside_it(surveyed: Surveyed) -> None:
    teaser = f"<div>{SENTENCE}</div>"
    found = surveyed(f"<ul><li>{teaser}<p>{OTHER}</p></li><li>{teaser}<p>No.</p></li></ul>")
    assert texts(found, repeats.find_copies(found, 0, {}, any_block=True)) == [SENTENCE]


def test_cells_of_a_table_may_have_the_same_text(surveyed: Surveyed) -> None:
    row = "<tr><td>as long as the stones are turned</td></tr>"
    assert repeats.find_copies(surveyed(f"<table>{row * 3}</table>"), 0, {}, any_block=True) == {}


def test_a_quotation_of_an_earlier_post_is_found(surveyed: Surveyed) -> None:
    found = surveyed(post(f"<p>{QUESTION}</p>") + post(f"<blockquote>{QUESTION}</blockquote>", f"<p>{ANSWER}</p>"))
    cut = repeats.find_quotations(found, 0, {})
    assert [found.tag[index] for index in cut] == ["blockquote"]
    assert set(cut.values()) == {"quoted from above"}


def test_a_part_of_a_post_with_its_author_is_a_quotation_of_it(surveyed: Surveyed) -> None:
    quote = f"<blockquote><cite>Miller said:</cite><p>{QUESTION[13:]}</p></blockquote>"
    assert (
        len(repeats.find_quotations(surveyed(post(f"<p>{QUESTION}</p>") + post(quote, f"<p>{ANSWER}</p>")), 0, {})) == 1
    )


def test_the_one_point_that_is_answered_stays(surveyed: Surveyed) -> None:
    html = post(f"<p>{QUESTION}</p>") + post(
        "<blockquote>when the stream runs low in January</blockquote>", f"<p>{ANSWER}</p>"
    )
    assert repeats.find_quotations(surveyed(html), 0, {}) == {}


def test_an_aside_named_quote_is_a_quotation(surveyed: Surveyed) -> None:
    html = post(f"<p>{QUESTION}</p>") + post(f"<aside class='quote'>{QUESTION}</aside>", f"<p>{ANSWER}</p>")
    assert len(repeats.find_quotations(surveyed(html), 0, {})) == 1
    assert repeats.find_quotations(surveyed(html.replace("quote", "note")), 0, {}) == {}


def test_a_quotation_from_elsewhere_stays_and_is_quoted_once(surveyed: Surveyed) -> None:
    quote = f"<blockquote>{ELSEWHERE}</blockquote>"
    found = surveyed(post(f"<p>{QUESTION}</p>", quote) + post(quote, f"<p>{ANSWER}</p>"))
    _first, second = (index for index, tag in enumerate(found.tag) if tag == "blockquote")
    assert list(repeats.find_quotations(found, 0, {})) == [second]


def test_a_quotation_before_its_source_stays(surveyed: Surveyed) -> None:
    html = post(f"<blockquote>{ANSWER}</blockquote>") + post(f"<p>{ANSWER}</p>")
    assert repeats.find_quotations(surveyed(html), 0, {}) == {}


def test_an_excluded_part_is_neither_a_source_nor_a_quotation(surveyed: Surveyed) -> None:
    found = surveyed(f"<nav>{QUESTION}</nav><blockquote>{QUESTION}</blockquote><blockquote>{QUESTION}</blockquote>")
    nav, _first, second = (index for index, tag in enumerate(found.tag) if tag in {"nav", "blockquote"})
    assert list(repeats.find_quotations(found, 0, {nav: "navigation"})) == [second]
    assert repeats.find_quotations(found, 0, {nav: "navigation", second: "hidden"}) == {}


def test_beyond_the_bound_quotations_stay(surveyed: Surveyed, monkeypatch: pytest.MonkeyPatch) -> None:
    found = surveyed(post(f"<p>{QUESTION}</p>") + post(f"<blockquote>{QUESTION}</blockquote>"))
    monkeypatch.setattr(repeats, "_MAX_RUNS", 5)
    assert repeats.find_quotations(found, 0, {}) == {}


def test_text_in_every_post_is_found(surveyed: Surveyed) -> None:
    post = "<div class='post'><h3>Re: The frozen wheel</h3><p>{}</p><div class='tools'>Reply</div></div>"
    found = surveyed("".join(post.format(text) for text in (QUESTION, ANSWER, REMARK)))
    cut = repeats.find_refrains(found, 0, {})
    assert sorted(found.tag[index] for index in cut) == ["div"] * 3 + ["h3"] * 3
    assert set(cut.values()) == {"same in every post"}


def test_names_that_differ_from_post_to_post_stay(surveyed: Surveyed) -> None:
    names = ("Miller", "Ferryman", "Miller", "Shepherd")
    html = "".join(
        f"<div class='post'><div class='name'>{name}</div><p>{ANSWER}{i}</p></div>" for i, name in enumerate(names)
    )
    assert repeats.find_refrains(surveyed(html), 0, {}) == {}


def test_two_of_the_same_are_too_few(surveyed: Surveyed) -> None:
    assert repeats.find_refrains(surveyed("<div class='post'><div class='tools'>Reply</div></div>" * 2), 0, {}) == {}


def test_a_column_of_a_table_may_have_the_same_text_throughout(surveyed: Surveyed) -> None:
    rows = "".join(f"<tr><td>Sack {i}, weighed by the miller</td><td>yes</td></tr>" for i in range(4))
    assert repeats.find_refrains(surveyed(f"<table>{rows}</table>"), 0, {}) == {}


def test_a_row_of_blocks_that_is_repeated_side_by_side_is_a_copy(surveyed: Surveyed) -> None:
    row = f"<p>{SENTENCE}</p><p>{OTHER}</p><p>{ANSWER}</p><p>{QUESTION}</p>"
    found = surveyed(f"<div>{row}<h2>Again</h2>{row}<p>{ELSEWHERE}</p></div>")
    assert texts(found, repeats.find_copies(found, 0, {}, is_prose=True)) == [SENTENCE, OTHER, ANSWER, QUESTION]


def test_a_part_with_a_heading_and_copies_is_cut_whole(surveyed: Surveyed) -> None:
    part = f"<div>{SENTENCE}</div><div>{OTHER}</div>"
    found = surveyed(f"<div>{part}</div><div class='print'><h4>To print</h4>{part}</div>")
    assert texts(found, repeats.find_copies(found, 0, {}, is_prose=True)) == [f"To print{SENTENCE}{OTHER}"]
