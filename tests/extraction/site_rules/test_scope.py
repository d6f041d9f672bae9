"""A scope is hard: the extractor sees nothing outside, metadata still comes from the whole page."""

from __future__ import annotations

from pagekeep.pipeline import extract
from pagekeep.rules.rule import Scope, Thresholds

URL = "https://example.com/mill"
SHORT = '<div id="note"><p>Closed on Sundays.</p></div>'


def scoped(book, rule, html, **said):
    return extract(html, URL, rules=book(rule(selector_overrides=Scope(**said))))


def test_the_extractor_sees_nothing_outside(article, rule, book):
    page = scoped(book, rule, article(around=SHORT), article="#note")
    assert page.text.strip() == "Closed on Sundays."
    assert page.strategy == "readability"


def test_metadata_comes_from_the_whole_page(article, rule, book):
    html = article(around=SHORT, head='<meta name="author" content="Ines Okafor">')
    page = scoped(book, rule, html, article="#note")
    assert (page.metadata.title, page.metadata.author) == ("The mill", "Ines Okafor")


def test_the_article_is_preferred_over_the_wrapper(article, rule, book):
    page = scoped(book, rule, article(around=SHORT), wrapper="main", article="#note")
    assert "wheel" not in page.text
    assert [(effect.selector, effect.note) for effect in page.trace.rules[0].effects] == [("#note", "article")]


def test_without_the_article_the_wrapper_serves(article, rule, book):
    html = article(around="<aside><p>" + "Other news of the day in many words. " * 60 + "</p></aside>")
    page = scoped(book, rule, html, wrapper="main", article="#absent")
    assert "Other news" not in page.text
    assert [(effect.selector, effect.count, effect.note) for effect in page.trace.rules[0].effects] == [
        ("#absent", 0, "matched nothing, ignored"),
        ("main", 1, "wrapper"),
    ]


def test_a_wrapper_alone_changes_what_is_extracted(article, rule, book):
    bigger = (
        "<section id=more>"
        + "<p>Another tale, much longer than the first, of a river in flood and of all who lived beside it in those years.</p>"
        * 30
        + "</section>"
    )
    html = article(around=bigger)
    assert "Another tale" in extract(html, URL).text
    assert "Another tale" not in scoped(book, rule, html, wrapper="main").text


def test_a_scope_that_matches_nothing_is_reported_and_ignored(article, rule, book):
    html = article()
    page = scoped(book, rule, html, article="#absent", wrapper="..")
    assert page.markdown == extract(html, URL).markdown
    assert [effect.note for effect in page.trace.rules[0].effects] == [
        "matched nothing, ignored",
        "not a selector, ignored",
    ]


def test_an_empty_scope_is_ignored(article, rule, book):
    html = article(around="<div id=empty> </div>")
    assert scoped(book, rule, html, article="#empty").markdown == extract(html, URL).markdown


def test_all_parts_of_an_article_are_kept_in_order(article, rule, book):
    parts = "<div class=part><p>First part of it.</p></div><p>Advert.</p><div class=part><p>Second part, <span class=part>whole</span>.</p></div>"
    page = scoped(book, rule, article(around=parts), article=".part")
    assert page.text.split() == "First part of it. Second part, whole .".replace(" .", ".").split()
    assert page.trace.rules[0].effects[0].count == 2


def test_the_article_is_kept_whole_but_for_its_furniture(rule, book):
    html = (
        "<body><div id=a><p>An opening line.</p><div>"
        + "<p>The body of the story goes on and on, as it must.</p>" * 9
        + "</div><p>A last line.</p><nav><a href=/>Home</a></nav></div>"
    )
    page = scoped(book, rule, html, article="#a")
    assert page.text.startswith("An opening line.")
    assert page.text.rstrip().endswith("A last line.")
    assert "Home" not in page.text


def test_a_list_of_links_can_be_the_article(rule, book):
    links = "".join(f'<li><a href="/{number}">The tale number {number} of the mill</a></li>' for number in range(20))
    page = scoped(book, rule, f"<body><p>Hello</p><ul id=list>{links}</ul>", article="#list")
    assert "tale number 19" in page.text


def test_a_rules_own_bound_holds_in_its_scope(article, rule, book):
    wanted = rule(selector_overrides=Scope(article="#note"), quality=Thresholds(min_words=50))
    assert extract(article(around=SHORT), URL, rules=book(wanted)).quality.level == "bookmark"


def test_the_first_rule_with_a_scope_that_is_there_wins(article, rule, book):
    rules = book(
        rule("absent", selector_overrides=Scope(article="#absent")),
        rule("note", selector_overrides=Scope(article="#note")),
        rule("main", selector_overrides=Scope(article="main")),
    )
    page = extract(article(around=SHORT), URL, rules=rules)
    assert page.text.strip() == "Closed on Sundays."
    assert page.trace.rules[2].effects[0].note == "another rule was first"


def test_the_body_that_structured_data_carries_is_outside_the_scope(rule, book):
    body = " ".join(["The structured tale goes on."] * 60)
    html = (
        f'<body><script type="application/ld+json">{{"@type":"Article","headline":"x","articleBody":"{body}"}}</script>'
        "<div id=wrap><p>Short.</p></div>"
    )
    assert "structured tale" in extract(html, URL).text
    assert "structured tale" not in scoped(book, rule, html, wrapper="#wrap").text


def test_the_kind_is_that_of_the_whole_page(rule, book):
    post = '<div class="forum-post"><p>The wheel turned all night, and nobody in the valley slept.</p></div>'
    html = f"<main>{post}<p>Between.</p>{post.replace('valley', 'village')}</main>"
    page = scoped(book, rule, html, article=".forum-post")
    assert (page.kind, "Between" in page.text) == ("forum", False)


def test_parts_taken_out_of_a_page_do_not_make_it_an_empty_shell(rule, book):
    lines = "<p>The wheel turned all night, and nobody slept.</p><hr>" * 12
    html = f"<main>{lines}</main><script src=app.js></script>"
    page = scoped(book, rule, html, article="p")
    assert (page.caught, page.need_render) == (None, None)


def test_few_words_that_a_rule_chose_are_not_an_empty_shell(rule, book):
    html = f"<div id=root></div><script src=app.js></script><noscript>{SHORT}</noscript>"
    assert extract(html, URL).caught is not None
    page = scoped(book, rule, html, article="#note")
    assert (page.caught, page.text.strip()) == (None, "Closed on Sundays.")
    assert page.need_render is not None
