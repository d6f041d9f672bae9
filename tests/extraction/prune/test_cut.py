"""The content is cut out of the tree, and what is removed is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import dom, extract
from pagekeep.extraction.locate import strategies
from pagekeep.extraction.locate.exclusions import Exclusion, Reason
from pagekeep.extraction.locate.page_facts import Content, PageFacts, find_kept
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import prune
from pagekeep.extraction.prune.cut import cut, report_removals

Surveyed = Callable[[str], Survey]
IndexOf = Callable[[Survey, str], int]
FactsOf = Callable[..., PageFacts]

PAGES = sorted((Path(__file__).parents[2] / "corpus").glob("*.html"))

NAVIGATION = Exclusion(Reason.NAVIGATION, "boilerplate")
FOOTER = Exclusion(Reason.FOOTER, "boilerplate")
ASIDE = Exclusion(Reason.ASIDE, "boilerplate")

SENTENCE = "The miller counted the sacks, one by one, until the tide turned again and the great wheel stood still. "
NOTES = (
    '<div><div class="Post__footnotes"><h4>Footnotes</h4><ol><li id="footnote-1">Forty of them.</li></ol></div></div>'
)


def article(mark: str) -> str:
    return f"<body><article><h1>The mill</h1><p>{SENTENCE * 6}{mark}</p><p>{SENTENCE * 6}</p></article>{NOTES}</body>"


def test_a_container_is_opened(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<main><p>one</p>two</main><p>three</p>")
    assert dom.html_of(cut(found, Content(index_of(found, "main"), {}))) == "<div><p>one</p>two</div>"


def test_a_root_that_is_itself_content_comes_whole(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div><table><tbody><tr><td>one</td></tr></tbody></table></div>")
    assert dom.html_of(cut(found, Content(index_of(found, "table"), {}))).startswith("<div><table>")


def test_excluded_parts_are_gone_and_what_follows_them_stays(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<div>one <nav>menu</nav>two</div>")
    content = Content(index_of(found, "div"), {index_of(found, "nav"): NAVIGATION})
    assert dom.inner_html(cut(found, content)) == "one two"


def test_an_exclusion_outside_the_content_does_no_harm(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<nav>menu</nav><div>one</div>")
    content = Content(index_of(found, "div"), {index_of(found, "nav"): NAVIGATION})
    assert dom.inner_html(cut(found, content)) == "one"


def test_a_root_inside_an_excluded_part_is_still_kept(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<aside><div>one</div></aside>")
    content = Content(index_of(found, "div"), {index_of(found, "aside"): ASIDE})
    assert dom.inner_html(cut(found, content)) == "one"


def test_an_element_that_a_strategy_made_is_returned(surveyed: Surveyed) -> None:
    made = dom.element("div", None, "made")
    assert cut(surveyed("<p>one"), Content(0, {}, made=made)) is made


def test_removals_are_named_as_in_css_with_the_most_text_first(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(
        '<p>x</p><nav class="top wide">one</nav><div id="foot" class="f">one two three</div><aside>one two</aside>'
    )
    excluded = {
        index_of(found, "nav"): NAVIGATION,
        index_of(found, "div"): FOOTER,
        index_of(found, "aside"): ASIDE,
    }
    reported = [
        (removal.element, removal.reason, removal.words, removal.step)
        for removal in report_removals(found, Content(0, excluded))
    ]
    assert reported == [
        ("div#foot", "footer", 3, "boilerplate"),
        ("aside", "aside", 2, "boilerplate"),
        ("nav.top.wide", "navigation", 1, "boilerplate"),
    ]


def test_a_removal_without_text_is_not_reported(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<p>x</p><nav><br></nav>")
    assert report_removals(found, Content(0, {index_of(found, "nav"): NAVIGATION})) == ()


def test_the_removals_reported_are_bounded(surveyed: Surveyed) -> None:
    found = surveyed("<nav>word</nav>" * 1_000)
    excluded = {index: NAVIGATION for index, tag in enumerate(found.tag) if tag == "nav"}
    assert 0 < len(report_removals(found, Content(0, excluded))) < 1_000
    assert sum(removal.words for removal in report_removals(found, Content(0, excluded))) == 1_000


def test_what_is_within_another_removal_is_counted_once(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<p>kept</p><nav>one <aside>two</aside></nav>")
    content = Content(0, {index_of(found, "aside"): ASIDE, index_of(found, "nav"): NAVIGATION})
    assert [(removal.element, removal.words) for removal in report_removals(found, content)] == [("nav", 2)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_word_of_a_page_is_kept_or_reported(path: Path, facts_of: FactsOf) -> None:
    facts = facts_of(path.read_text(encoding="utf-8", errors="replace"))
    survey, outcome = facts.survey, strategies.run(facts, prune)
    assert outcome.candidate is not None
    content = replace(outcome.candidate, made=None)
    total = sum(len(text.split()) for text in survey.texts)
    words = sum(len(text.split()) for kept in find_kept(survey, content) for text in survey.texts_in(*kept))
    assert words + sum(removal.words for removal in report_removals(survey, content)) >= total


def test_what_is_outside_the_container_is_reported_too(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(
        "<div>before <b>it</b><nav>menu</nav><p>one more</p></div><section><main>kept</main>after</section>"
    )
    content = Content(index_of(found, "main"), {index_of(found, "nav"): NAVIGATION})
    reported = {(removal.element, removal.reason, removal.words) for removal in report_removals(found, content)}
    assert reported == {
        ("text", "outside the content", 1),
        ("b", "outside the content", 1),
        ("nav", "navigation", 1),
        ("p", "outside the content", 2),
    }
    assert sum(removal.words for removal in report_removals(found, content)) == 6


def test_what_is_around_the_container_is_not_reported_as_a_whole(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed("<aside>note <div>one two three</div></aside>")
    content = Content(index_of(found, "div"), {index_of(found, "aside"): ASIDE})
    assert [(removal.element, removal.words) for removal in report_removals(found, content)] == [("text", 1)]


def test_a_page_replaced_by_its_own_data_is_reported(surveyed: Surveyed) -> None:
    content = Content(0, {}, made=dom.element("div", None, "made"))
    (removal,) = report_removals(surveyed("<p>one two</p>"), content)
    assert (removal.element, removal.words, removal.step) == ("body", 2, "locate")


def test_notes_beside_the_article_come_with_it() -> None:
    page = extract(article("<sup>1</sup>"))
    assert "[^1]: Forty of them." in page.markdown
    assert "Footnotes" not in page.markdown


def test_notes_that_nothing_asks_for_stay_where_they_are() -> None:
    assert "Forty" not in extract(article("")).markdown


def test_names_of_notes_are_not_boilerplate() -> None:
    notes = '<div class="footnotes-footer"><p id="footnote-1"><sup>1</sup> Forty of them.</p></div>'
    page = extract(f"<body><article><p>{SENTENCE * 6}<sup>1</sup></p><p>{SENTENCE * 6}</p>{notes}</article></body>")
    assert "[^1]: Forty of them." in page.markdown


def test_text_in_controls_and_drawings_outside_the_content_is_reported(surveyed: Surveyed, index_of: IndexOf) -> None:
    found = surveyed(
        "<textarea>one two</textarea><nav><select><option>three</select></nav><svg><text>four</text></svg>"
        "<script>var x = 1</script><main>kept <textarea>left to the clean-up</textarea></main>"
    )
    content = Content(index_of(found, "main"), {index_of(found, "nav"): NAVIGATION})
    reported = {(removal.element, removal.reason, removal.words) for removal in report_removals(found, content)}
    assert reported == {
        ("textarea", "outside the content", 2),
        ("select", "navigation", 1),
        ("svg", "outside the content", 1),
    }
