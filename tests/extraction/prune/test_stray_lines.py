"""Lines about the page as a tool."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import strays

Surveyed = Callable[[str], Survey]

PROSE = "<p>The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still.</p>"


def found(survey: Survey, excluded: dict[int, str] | None = None) -> list[tuple[str, str]]:
    cut = strays.find_stray_lines(survey, 0, excluded or {})
    return [(survey.tag[index] + ":" + dom.text_of(survey.nodes[index]), reason) for index, reason in cut.items()]


@pytest.mark.parametrize(
    ("html", "cut"),
    [
        ("<p><a href=#top>Back to top ↑</a></p>", ("p:Back to top ↑", "back-to-top link")),
        ("<div><div>Loading...</div></div>", ("div:Loading...", "loading")),
        ("<p><small>ADVERTISEMENT</small></p>", ("p:ADVERTISEMENT", "advertisement")),
        ("<a href=#top>Nach oben</a>", ("a:Nach oben", "back-to-top link")),
    ],
)
def test_a_whole_line_goes_with_its_box(surveyed: Surveyed, html: str, cut: tuple[str, str]) -> None:
    assert found(surveyed(f"{PROSE}{html}{PROSE}")) == [cut]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Advertisement paid for the mill's new roof.</p>",
        "<p>The screen said <b>Loading...</b> and no more.</p>",
        "<h2>Advertising</h2>",
        "<pre>Loading...</pre>",
        "<table><tr><td>Loading</td><td>4 t</td></tr></table>",
        "<i>Loading</i> <i>and milling</i>",
    ],
)
def test_the_same_words_as_text_stay(surveyed: Surveyed, html: str) -> None:
    assert found(surveyed(f"{PROSE}{html}{PROSE}")) == []


def test_what_is_excluded_already_is_not_found_again(surveyed: Surveyed) -> None:
    assert found(surveyed("<div>Loading...</div>"), {1: "hidden"}) == []


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><b>Previous:</b></td><td><a href=/a>On hemp</a></td></tr></table>",
        "<p><a href=/a>← Previous post</a> | <a href=/b>Next post →</a></p>",
        "<div><div>Next article</div><div><a href=/b>On wool</a></div></div>",
    ],
)
def test_the_way_to_neighbouring_pages_goes(surveyed: Surveyed, html: str) -> None:
    assert [reason for _, reason in found(surveyed(f"{PROSE}{html}{PROSE}"))] == ["links to neighbouring pages"]


@pytest.mark.parametrize(
    "html",
    ["<p>Press <a href=/b>Next</a> to go on.</p>", "<p>Next</p>", "<table><tr><td>Next</td><td>4 t</td></tr></table>"],
)
def test_next_within_a_text_stays(surveyed: Surveyed, html: str) -> None:
    assert found(surveyed(f"{PROSE}{html}{PROSE}")) == []


def test_an_item_among_others_is_what_the_list_is_about():
    said = "<p>" + "We have been printing by the canal for three generations, and like it. " * 6 + "</p>"
    page = extract(
        f"<article>{said}<ul><li>Design<li>Advertising<li>Printing</ul>{said}</article>", "https://example.com/"
    )
    assert "- Advertising" in page.markdown
