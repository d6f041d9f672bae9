"""Text measured by block."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate import survey
from pagekeep.extraction.locate.survey import Survey

Surveyed = Callable[[str], Survey]
IndexOf = Callable[[Survey, str], int]


def test_a_sentence_split_over_inline_elements_counts_for_its_block(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<p>abc<b>def<i>ghi</i></b>jkl</p>")
    own = survey.measure_own_text(found)
    assert own[index_of(found, "p")] == 12
    assert own[index_of(found, "b")] == own[index_of(found, "i")] == 0


def test_text_in_links_is_not_prose(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed('<p>abc<a href="x">def <b>ghi</b></a></p>')
    assert survey.measure_own_text(found)[index_of(found, "p")] == 3


def test_text_of_an_inner_block_is_not_the_outer_blocks_own(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div>abc<section>defgh</section></div>")
    own = survey.measure_own_text(found)
    assert own[index_of(found, "div")] == 3
    assert own[index_of(found, "section")] == 5


def test_blocks_under_the_minimum_are_not_summed(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div><p>abcdefghij</p><p>abc</p></div>")
    own = survey.measure_own_text(found)
    assert survey.sum_blocks(found, own, 5)[index_of(found, "div")] == 10
    assert survey.sum_blocks(found, own, 1)[index_of(found, "div")] == 13


def test_dead_blocks_are_not_summed(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed('<div><p id="dead">abcdefghij</p><p>abc</p></div>')
    dead = bytearray(len(found.nodes))
    dead[index_of(found, "#dead")] = 1
    assert survey.sum_blocks(found, survey.measure_own_text(found), 1, dead)[0] == 3


def test_text_in_the_body_itself_is_summed(surveyed: Surveyed) -> None:
    found = surveyed("loose words<p>abc</p>")
    assert survey.sum_blocks(found, survey.measure_own_text(found), 1)[0] == len("loose words") + 3


def test_the_deepest_element_with_its_share_wins(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed('<div id="page"><div id="story"><p>aaaaaaaaaa</p><p>bbbbbbbbbb</p></div><p>cc</p></div>')
    mass = survey.sum_blocks(found, survey.measure_own_text(found), 1)
    assert survey.find_innermost(found, mass, 0.8) == index_of(found, "#story")
    assert survey.find_innermost(found, mass, 1.0) == index_of(found, "#page")


def test_without_any_prose_the_body_itself_is_the_deepest(surveyed: Surveyed) -> None:
    found = surveyed("<div><img src=a></div>")
    assert survey.find_innermost(found, survey.sum_blocks(found, survey.measure_own_text(found), 1), 0.8) == 0
