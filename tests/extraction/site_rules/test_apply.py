"""Rules on their way through the pipeline: phases, order, removals, thresholds, discards."""

from __future__ import annotations

import pytest

from pagekeep import dom, extract
from pagekeep.extraction import site_rules
from pagekeep.rules.rule import Action, Rendering, Thresholds

URL = "https://example.com/mill"


def effects(page, index=0):
    return [(effect.what, effect.selector, effect.count, effect.words) for effect in page.trace.rules[index].effects]


def test_a_page_without_matching_rules_is_untouched(article, rule, book):
    html = article("<p class=x>Never mind the frogs.</p>")
    assert extract(html, URL, rules=book(rule(phase="post"))).document == extract(html, URL).document


def test_pre_rules_work_on_the_raw_page(article, rule, book):
    html = article("<p class=odd>Never mind the frogs.</p>")
    page = extract(html, URL, rules=book(rule(remove=(".odd", ".even"))))
    assert "frogs" not in page.text
    assert effects(page) == [("remove", ".odd", 1, 4), ("remove", ".even", 0, 0)]
    assert page.trace.rules[0].id == "test"
    assert page.trace.rules[0].phase == "pre"
    assert [(removal.element, removal.reason, removal.words) for removal in page.trace.removals] == [
        ("p.odd", "rule test", 4)
    ]


def test_words_of_neighbouring_cells_are_counted_apart(article, rule, book):
    cells = "<table class=odd><tr><td>Frogs<td>four<tr><td>Toads<td>two, <b>or three</b>.</table>"
    page = extract(article(cells), URL, rules=book(rule(remove=(".odd",))))
    assert effects(page) == [("remove", ".odd", 1, 6)]


def test_post_rules_work_on_the_extracted_tree_alone(article, rule, book):
    html = article("<p class=odd>Never mind the frogs.</p>", around="<footer class=odd>All rights reserved</footer>")
    page = extract(html, URL, rules=book(rule(phase="post", remove=(".odd",))))
    assert "frogs" not in page.text
    assert effects(page) == [("remove", ".odd", 1, 4)]


def test_a_rule_for_both_phases_runs_twice(article, rule, book):
    page = extract(article(), URL, rules=book(rule(phase="both", remove=(".odd",))))
    assert [(match.phase, match.id) for match in page.trace.rules] == [("pre", "test"), ("post", "test")]


def test_metadata_comes_from_the_untouched_page(article, rule, book):
    page = extract(article(), URL, rules=book(rule(remove=("h1",))))
    assert page.metadata.title == "The mill"


def test_a_rule_removes_first_and_then_acts(article, rule, book):
    html = article('<div class="box"><p class="odd">Frogs.</p><p>Toads.</p></div>')
    wanted = rule(remove=(".odd",), actions=(Action("retag", ".box", tag="blockquote"),))
    page = extract(html, URL, rules=book(wanted))
    assert "> Toads." in page.markdown
    assert [effect.what for effect in page.trace.rules[0].effects] == ["remove", "retag"]


def test_rules_run_in_the_order_of_the_book(article, rule, book):
    html = article('<div class="a">Frogs sing in the evening.</div>')
    first = rule("first", actions=(Action("set_attr", ".a", attr="class", value="b"),))
    second = rule("second", remove=(".b",))
    assert "Frogs" not in extract(html, URL, rules=book(first, second)).text
    assert "Frogs" in extract(html, URL, rules=book(second, first)).text


def test_a_bad_selector_never_breaks_a_page(article, rule, book):
    bad = rule(remove=("..", ".odd"), actions=(Action("unwrap", "[["),))
    page = extract(article("<p class=odd>Never mind the frogs.</p>"), URL, rules=book(bad))
    assert "frogs" not in page.text
    assert [effect.note for effect in page.trace.rules[0].effects] == [
        "not a selector, ignored",
        "",
        "not a selector, ignored",
    ]


def test_nested_removals_count_once(article, rule, book):
    page = extract(article("<div class=x>a b <p class=x>c d</p></div>"), URL, rules=book(rule(remove=(".x",))))
    assert effects(page) == [("remove", ".x", 1, 4)]


def test_actions_on_the_result_cannot_nest_it_beyond_the_bound(article, rule, book):
    wraps = tuple(Action("wrap", "div, p", wrapper_tag="div") for _ in range(6))
    nested = "<div>" * 300 + "<p>Frogs sing in the evening by the old mill pond.</p>" + "</div>" * 300
    page = extract(article(nested), URL, rules=book(rule(phase="post", actions=wraps)))
    assert "Frogs sing" in page.markdown


# Thresholds.


def test_a_rule_can_ask_for_fewer_words(rule, book):
    html = "<body><nav>" + "<p>one two three four five</p>" * 40 + "</nav><div><p>Closed on Sundays in May.</p></div>"
    assert extract(html, URL).quality.level == "bookmark"
    page = extract(html, URL, rules=book(rule(quality=Thresholds(min_words=3))))
    assert page.quality.level == "simplified"
    assert page.text.strip() == "Closed on Sundays in May."


def test_a_rule_can_ask_for_more_words(article, rule, book):
    page = extract(article(), URL, rules=book(rule(quality=Thresholds(min_words=5_000))))
    assert page.quality.level == "bookmark"


def test_the_first_rule_that_sets_a_bound_wins(rule, book):
    rules = book(
        rule("a", quality=Thresholds(min_words=3)), rule("b", quality=Thresholds(min_words=9, max_link_density=0.9))
    )
    document = dom.parse("<p>x")
    body = dom.first(document, "body")
    assert site_rules.apply_before(rules, URL, document, body).bounds == Thresholds(3, 0.9)


@pytest.mark.parametrize(
    ("modes", "winner"),
    [(["auto", "never"], "never"), (["never", "force", "auto"], "force"), (["auto"], "auto"), ([], None)],
)
def test_force_wins_over_never_over_auto(rule, book, modes, winner):
    rules = book(*(rule(mode, rendering=Rendering(mode)) for mode in modes), rule("other"))
    document = dom.parse("<p>x")
    asked = site_rules.apply_before(rules, URL, document, dom.first(document, "body")).rendering
    assert (asked and asked[0]) == winner


# Discards.


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_discarded_page_leaves_a_record_and_nothing_it_says(article, rule, book, phase):
    page = extract(article(), URL, rules=book(rule("spam", phase=phase, discard=True)))
    assert (page.quality.level, page.quality.colour, page.strategy) == ("discarded", "grey", "discarded")
    assert page.metadata.title == "The mill"
    assert page.markdown == page.html == page.text == ""
    assert "discarded: true" in page.document
    assert "reason: Content discarded by rule spam" in page.document
    assert "rule_id: spam" in page.document
    assert page.document.endswith("---\n\n[Content discarded by parsing rule]\n")
    assert "wheel" not in page.document
    assert page.trace.rules[0].effects[0].what == "discard"


def test_remove_to_parent_works_on_the_result(rule, book, article):
    inside = (
        '<blockquote class="frame"><blockquote><p class="told">What the miller told us.</p></blockquote></blockquote>'
    )
    html = article(inside)
    action = Action("remove_to_parent", ".told", parent="main")
    page = extract(html, "https://example.com/a", rules=book(rule(phase="post", actions=(action,))))
    assert "\nWhat the miller told us." in page.markdown
    assert "> What the miller" in extract(html, "https://example.com/a", rules=book()).markdown
