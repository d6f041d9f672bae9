"""Links that stand alone in an article."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep import dom
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import lone_links

Surveyed = Callable[[str], Survey]

PROSE = "<p>The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still.</p>"
LINK = '<a href="/sacks">How sacks are counted</a>'


def found(survey: Survey, dropped: dict[int, str] | None = None) -> list[tuple[str, str]]:
    cut = lone_links.find(survey, 0, dropped or {})
    return [(" ".join(dom.text_of(survey.nodes[index]).split()), reason) for index, reason in cut.items()]


def test_a_box_that_is_only_a_link_goes(surveyed: Surveyed) -> None:
    html = f"{PROSE}<div><b>{LINK}</b></div>{PROSE}"
    assert found(surveyed(html)) == [("How sacks are counted", "link in a box")]


def test_a_box_with_text_or_blocks_stays(surveyed: Surveyed) -> None:
    assert found(surveyed(f"<div>Read here {LINK} or ask the miller himself</div>")) == []
    assert found(surveyed(f"<div><h2>{LINK}</h2></div>")) == []
    assert found(surveyed("<div><img src=a></div>")) == []


def test_paragraphs_of_a_link_each_go_from_the_third_on(surveyed: Surveyed) -> None:
    assert len(found(surveyed(f"{PROSE}<p>{LINK}</p> <p>{LINK}</p>\n<p>{LINK}</p> <p>{LINK}</p>{PROSE}"))) == 4
    assert found(surveyed(f"{PROSE}<p>{LINK}</p><p>{LINK}</p>{PROSE}<p>{LINK}</p>")) == []


def test_links_in_sentences_and_lists_stay(surveyed: Surveyed) -> None:
    assert (
        found(surveyed(f"<p>See {LINK} for more on this.</p>" * 4 + f"<ul><li>{LINK}<li>{LINK}<li>{LINK}</ul>")) == []
    )


def test_what_is_dropped_already_is_not_named_again(surveyed: Surveyed) -> None:
    survey = surveyed(f"<nav><div>{LINK}</div></nav>")
    assert found(survey, {1: "navigation"}) == []
