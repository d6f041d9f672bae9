"""The strategy `full_page`: the whole body without its boilerplate."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extraction.locate import strategies
from pagekeep.extraction.locate.page_facts import Measure, PageFacts, measure

FactsOf = Callable[..., PageFacts]


def test_the_whole_body_is_kept_except_boilerplate(facts_of: FactsOf) -> None:
    words = "One sentence after the other, all of them plain. " * 8
    facts = facts_of(f'<nav>Menu</nav><p>{words}</p><div class="share-bar">Share</div><p>Two</p>')
    content = strategies.locate_full_page(facts)
    assert content is not None
    assert content.root == 0
    assert sorted(exclusion.reason for exclusion in content.excluded.values()) == ["navigation", "share"]


def test_fifty_words_are_good_enough(facts_of: FactsOf) -> None:
    facts = facts_of("<p>x</p>")
    assert strategies.judge_full_page(facts, Measure(50, 300, 0, 0)) is None
    assert "49 words" in (strategies.judge_full_page(facts, Measure(49, 300, 0, 0)) or "")


def test_names_that_would_leave_nothing_are_ignored_but_tags_count(facts_of: FactsOf) -> None:
    words = "One sentence after the other, all of them plain. " * 8
    parts = "".join(f'<div class="promo">{words}</div>' for _ in range(6))
    content = strategies.locate_full_page(facts_of(f"<nav>Menu</nav>{parts}"))
    assert content is not None
    assert [exclusion.reason for exclusion in content.excluded.values()] == ["navigation"]


def test_a_few_lines_that_are_all_the_page_has_are_good_enough(facts_of: FactsOf) -> None:
    facts = facts_of(
        "<nav>Menu</nav><main><h1>Ferry times</h1><p>First boat at six.</p><p>Last boat at nine.</p></main>"
    )
    content = strategies.locate_full_page(facts)
    assert content is not None
    assert facts.survey.tag[content.root] == "main"
    assert strategies.judge_full_page(facts, measure(facts, content)) is None


def test_a_few_words_of_a_longer_page_are_not_good_enough(facts_of: FactsOf) -> None:
    rows = "".join(f"<p>Row {i} of the long register</p>" for i in range(30))
    assert "12 words" in (strategies.judge_full_page(facts_of(rows), Measure(12, 60, 0, 0)) or "")


def test_names_count_where_a_short_text_is_all_that_is_left(facts_of: FactsOf) -> None:
    menu = "".join(f'<div class="tree"><a href="/{i}">Boat {i} of the fleet</a></div>' for i in range(12))
    text = "<p>First boat at six, and every hour from then on.</p><p>Last boat at nine, if the tide and the wind allow.</p>"
    content = strategies.locate_full_page(facts_of(f'<div class="nav-view">{menu}</div><div>{text}</div>'))
    assert content is not None
    assert [exclusion.reason for exclusion in content.excluded.values()] == ["navigation"]
