"""A rule that takes most of the prose is reverted and reported; users' own rules are obeyed as far as something is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.pipeline import extract
from pagekeep.rules.rule import Action, MetadataSource, Scope, Source
from tests.extraction.site_rules.conftest import SENTENCE

CORPUS = Path(__file__).parents[2] / "corpus"
BAD = {
    "main and article": {"remove": ("article", "main")},
    "paragraphs": {"remove": ("p",)},
    "footer only": {"selector_overrides": Scope(article="footer")},
}
URL = "https://example.com/mill"
SHIPPED = Source("news.yaml", 1, True)
OWN = Source("mine.yaml", 1, False)
ANSWERS = "".join(f"<p>Answer {number} of a reader, who thinks {SENTENCE}</p>" for number in range(20))


def reverts(page):
    return [
        (match.id, effect.selector) for match in page.trace.rules for effect in match.effects if effect.what == "revert"
    ]


def warnings(page):
    return [warning.text for warning in page.trace.warnings if warning.code == "rule_reverted"]


def test_a_removal_of_the_article_is_reverted_and_the_rest_of_the_rule_applied(article, rule, book):
    html = article(inside="<p class=plug>Subscribe to the paper of the mill, it is sent every week.</p>")
    page = extract(html, URL, rules=book(rule(remove=("main > p:not(.plug)", ".plug"), source=SHIPPED)))
    assert "Paragraph 6 of the tale" in page.text
    assert "Subscribe" not in page.text
    assert reverts(page) == [("test", "remove main > p:not(.plug)")]
    assert warnings(page) == ["not applied, because most of the text would be lost: `main > p:not(.plug)` of test"]


def test_a_rule_that_takes_less_than_it_leaves_is_applied(article, rule, book):
    page = extract(article(), URL, rules=book(rule(remove=("p:nth-of-type(2)",), source=SHIPPED)))
    assert "Paragraph 2" not in page.text
    assert (reverts(page), warnings(page)) == ([], [])


@pytest.mark.parametrize("name", ["class=comments", "id=disqus_thread", "class='cookie-consent box'"])
def test_what_is_named_after_boilerplate_stays_removed_however_long(article, rule, book, name):
    html = article(around=f"<div {name} data-x>{ANSWERS}</div>")
    page = extract(html, URL, rules=book(rule(remove=("[data-x]",), source=SHIPPED)))
    assert "Paragraph 6" in page.text
    assert "Answer 1" not in page.text
    assert reverts(page) == []


def test_the_article_in_something_named_after_comments_is_put_back(article, rule, book):
    html = article().replace("<main>", "<main id=comments>")
    page = extract(html, URL, rules=book(rule(remove=("#comments",), source=SHIPPED)))
    assert "Paragraph 6" in page.text
    assert reverts(page) == [("test", "remove #comments")]


def test_a_scope_that_leaves_little_reverts_the_whole_rule(article, rule, book):
    html = article(around="<div id=note class=who><p>Closed on Sundays and in the week of the fair.</p></div>")
    wrong = rule(
        selector_overrides=Scope(article="#note"),
        remove=("h1",),
        metadata={"author": MetadataSource("#note")},
        source=SHIPPED,
    )
    page = extract(html, URL, rules=book(wrong))
    assert page.text == extract(html, URL).text
    assert page.metadata.author is None
    assert reverts(page) == [("test", "scope #note")]
    assert warnings(page)


def test_a_scope_of_a_users_own_rule_is_obeyed(article, rule, book):
    html = article(around="<div id=note><p>Closed on Sundays and in the week of the fair.</p></div>")
    page = extract(html, URL, rules=book(rule(selector_overrides=Scope(article="#note"), source=OWN)))
    assert page.text.strip() == "Closed on Sundays and in the week of the fair."
    assert warnings(page) == []


def test_a_users_own_removal_is_obeyed_while_something_is_left(article, rule, book):
    own = rule(remove=("p:nth-of-type(n+3)",), source=OWN)
    page = extract(article(inside=ANSWERS), URL, rules=book(own))
    assert "Paragraph 2" in page.text
    assert "Answer" not in page.text
    assert warnings(page) == []


def test_a_users_own_removal_that_leaves_nothing_is_reverted(article, rule, book):
    page = extract(article(), URL, rules=book(rule(remove=("main",), source=OWN)))
    assert "Paragraph 6" in page.text
    assert reverts(page) == [("test", "remove main")]


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_text_that_an_action_replaces_is_put_back(article, rule, book, phase):
    action = Action("replace_with_text", "p", template="gone")
    page = extract(article(), URL, rules=book(rule(phase=phase, actions=(action,), source=SHIPPED)))
    assert "Paragraph 6" in page.text
    assert reverts(page) == [("test", "replace_with_text p")]


def test_a_removal_from_the_result_is_reverted_too(article, rule, book):
    page = extract(article(), URL, rules=book(rule(phase="post", remove=("p",), source=SHIPPED)))
    assert "Paragraph 6" in page.text
    assert reverts(page) == [("test", "remove p")]


def test_a_selector_behind_another_is_reverted_too(article, rule, book):
    html = article().replace("<main>", "<main><article>").replace("</main>", "</article></main>")
    page = extract(html, URL, rules=book(rule(remove=("article", "main"), source=SHIPPED)))
    assert "Paragraph 6" in page.text
    assert reverts(page) == [("test", "remove main"), ("test", "remove article")]


def test_of_two_rules_only_the_cause_is_reverted(article, rule, book):
    html = article(inside="<p class=plug>Subscribe to the paper of the mill.</p>")
    rules = (rule("bad", remove=("p:not(.plug)",), source=SHIPPED), rule("good", remove=(".plug",), source=SHIPPED))
    page = extract(html, URL, rules=book(*rules))
    assert "Subscribe" not in page.text
    assert reverts(page) == [("bad", "remove p:not(.plug)")]


@pytest.mark.parametrize("kind", BAD)
def test_no_article_of_the_corpus_is_lost_to_a_bad_rule(rule, book, kind):
    bad = book(rule(**BAD[kind], source=SHIPPED))
    pages = [path.read_bytes() for path in sorted(CORPUS.glob("article-*.html"))[:8]]
    whole = [extract(html, rules=book()).word_count for html in pages]
    left = [extract(html, rules=bad).word_count for html in pages]
    assert [(now, before) for now, before in zip(left, whole, strict=True) if now < before / 2] == []
