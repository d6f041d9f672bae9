"""The content comes out of the tree, and what was dropped is told."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune.cut import cut, removals

Surveyed = Callable[[str], Survey]
IndexOf = Callable[[Survey, str], int]


def test_a_container_is_opened(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<main><p>one</p>two</main><p>three</p>")
    assert dom.html_of(cut(found, Content(index_of(found, "main"), {}))) == "<div><p>one</p>two</div>"


def test_a_root_that_is_itself_content_comes_whole(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div><table><tbody><tr><td>one</td></tr></tbody></table></div>")
    assert dom.html_of(cut(found, Content(index_of(found, "table"), {}))).startswith("<div><table>")


def test_dropped_parts_are_gone_and_what_stands_behind_them_stays(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div>one <nav>menu</nav>two</div>")
    content = Content(index_of(found, "div"), {index_of(found, "nav"): "navigation"})
    assert dom.inner_html(cut(found, content)) == "one two"


def test_a_drop_outside_the_content_does_no_harm(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<nav>menu</nav><div>one</div>")
    content = Content(index_of(found, "div"), {index_of(found, "nav"): "navigation"})
    assert dom.inner_html(cut(found, content)) == "one"


def test_a_root_inside_something_dropped_is_still_kept(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<aside><div>one</div></aside>")
    content = Content(index_of(found, "div"), {index_of(found, "aside"): "aside"})
    assert dom.inner_html(cut(found, content)) == "one"


def test_what_a_level_made_is_handed_on(surveyed: Surveyed) -> None:
    made = dom.element("div", None, "made")
    assert cut(surveyed("<p>one"), Content(0, {}, made=made)) is made


def test_removals_are_named_as_in_css_with_the_most_text_first(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(
        '<p>x</p><nav class="top wide">one</nav><div id="foot" class="f">one two three</div><aside>one two</aside>'
    )
    dropped = {
        index_of(found, "nav"): "navigation",
        index_of(found, "div"): "footer",
        index_of(found, "aside"): "aside",
    }
    told = [(removal.element, removal.reason, removal.words) for removal in removals(found, Content(0, dropped))]
    assert told == [("div#foot", "footer", 3), ("aside", "aside", 2), ("nav.top.wide", "navigation", 1)]


def test_a_removal_without_text_is_not_worth_telling(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<p>x</p><nav><br></nav>")
    assert removals(found, Content(0, {index_of(found, "nav"): "navigation"})) == ()


def test_the_removals_told_are_bounded(surveyed: Surveyed) -> None:
    found = surveyed("<nav>word</nav>" * 1_000)
    dropped = {index: "navigation" for index, tag in enumerate(found.tag) if tag == "nav"}
    assert 0 < len(removals(found, Content(0, dropped))) < 1_000
