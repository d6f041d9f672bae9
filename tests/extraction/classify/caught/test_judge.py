from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.classify import caught
from pagekeep.extraction.input import structured
from pagekeep.extraction.locate.survey import survey
from pagekeep.model import Caught, Strategy

CHALLENGE = "<title>Just a moment...</title><h1>kiln.example</h1><p>Checking your browser.</p><script>window._cf_chl_opt={}</script>"
LOGIN = "<title>Log in</title><h1>Log in</h1><form><input type=password></form>"


def judge(
    html: str, text: str = "", strategy: Strategy = "bookmark", url: str | None = None, status: int | None = None
) -> Caught | None:
    document = dom.parse(html)
    body = dom.first(document, "body")
    assert body is not None
    signals = caught.collect(document, survey(body), structured.read(document), html, url, status)
    return caught.judge(signals, text, len(text.split()), strategy)


def kind_of(verdict: Caught | None) -> str | None:
    return verdict.kind if verdict else None


def test_what_was_found_acquits_a_page_with_the_marks_of_a_wall() -> None:
    article = "The fire does not care about the schedule. " * 100
    assert kind_of(judge(CHALLENGE)) == "bot_wall"
    assert judge(CHALLENGE, article, "readability") is None


def test_a_bookmarks_description_is_not_content_and_acquits_nothing() -> None:
    description = "Eleven years of ash, one ledger and a door brick that slipped. " * 60
    assert kind_of(judge(CHALLENGE, description, "bookmark")) == "bot_wall"


def test_much_text_on_the_page_acquits_even_when_no_level_found_it() -> None:
    posts = "".join(
        f"<div><p>Post {number}: oak ash gave a good brown again this week.</p></div>" for number in range(400)
    )
    assert judge(f"{LOGIN}{posts}") is None


def test_a_page_that_declares_itself_an_article_is_not_an_error_page() -> None:
    page = "<title>Not found</title><h1>Not found</h1><p>A poem.</p>"
    declared = '<script type="application/ld+json">{"@type":"Article","headline":"Not found"}</script>'
    assert kind_of(judge(page)) == "soft_404"
    assert judge(page + declared) is None


def test_the_answered_status_is_reported_only_where_it_misleads() -> None:
    page = "<title>Page not found</title><h1>Page not found</h1>"
    misled, honest = judge(page, status=200), judge(page, status=None)
    assert misled
    assert "answered 200" in misled.reason
    assert honest
    assert "answered" not in honest.reason


def test_where_a_redirect_led_separates_a_login_form_from_a_page_that_has_one() -> None:
    words = "Members of the parish may look into the ledger here. " * 6
    page = f"<title>Parish</title><h1>Parish</h1><p>{words}</p><form><input type=password></form>"
    assert judge(page, words, "readability", "https://parish.example/ledger") is None
    assert kind_of(judge(page, words, "readability", "https://parish.example/login?next=/ledger")) == "login_wall"


def test_a_wall_that_is_also_an_empty_app_is_named_after_the_wall() -> None:
    assert kind_of(judge(f'{CHALLENGE}<div id="root"></div>')) == "bot_wall"


def test_a_teaser_is_long_when_the_page_ends_at_the_wall_and_the_article_when_it_goes_on() -> None:
    teaser = " ".join(f"Firing {number} went as the ledger said it would." for number in range(40))
    wall = "<p>Subscribe to continue reading.</p>"
    filler = "<p>Letters to the editor are printed on Sundays, unless there is a firing.</p>" * 30
    assert kind_of(judge(f"<p>{teaser}</p>{wall}{filler}", teaser, "readability")) == "paywall"
    assert judge(f"{wall}{filler}<p>{teaser}</p>", teaser, "readability") is None


@pytest.mark.parametrize(
    ("page", "kind", "advice"),
    [
        (CHALLENGE, "bot_wall", "with the browser"),
        (LOGIN, "login_wall", "log in there first"),
        ("<title>Page not found</title>", "soft_404", "Check the address"),
        ("<title>503 Service Unavailable</title>", "soft_404", "later"),
        ("<p>This domain is for sale.</p>", "parked_domain", "web archive"),
        ("<p>A start.</p><p>This article is for subscribers only.</p>", "paywall", "log in there first"),
        ('<div id="root"></div><script src="/main.js"></script>', "empty_shell", "with the browser"),
    ],
)
def test_the_verdict_says_what_showed_it_and_what_to_do_next(page: str, kind: str, advice: str) -> None:
    verdict = judge(page)
    assert verdict
    assert verdict.kind == kind
    assert verdict.reason
    assert advice in verdict.suggestion


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<title></title>",
        "<title>\ud800\x00</title><h1>\udfff</h1><p>\x00subscribe</p>",
        "<h1>" * 600 + "Page not found",
        "<noscript>" * 400 + "enable javascript" + "<p>x</p>" * 400,
        "<p>" + "a" * 50_000 + ".example is for sale",
        "<p>" + "confirm" * 3_000,
        '<main><div id="root"></div></main>' * 2_000,
        '<script type="application/ld+json">{"@type":["Article",7,null],"isAccessibleForFree":[false],"wordCount":{"a":1}}</script>',
        '<script type="application/ld+json">{"@type":"Article","isAccessibleForFree":"FALSE","wordCount":1e400}</script>',
    ],
    ids=[
        "nothing",
        "empty title",
        "surrogates",
        "deep headings",
        "nested noscript",
        "one long word",
        "stems",
        "many roots",
        "odd types",
        "odd numbers",
    ],
)
def test_odd_pages_get_a_verdict_and_the_same_one_twice(page: str) -> None:
    assert judge(page, url="http://[broken") == judge(page, url="http://[broken")
