from __future__ import annotations

import json

import pytest

from pagekeep import dom
from pagekeep.extraction.input import structured
from pagekeep.extraction.metadata import clues


def gather(html: str, url: str | None = "https://example.com/rye") -> clues.Clues:
    document = dom.parse(html)
    return clues.collect(document, structured.read(document), url)


def articles(*items: dict[str, object]) -> str:
    data = [{"@type": "Article", **item} for item in items]
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def test_article_that_names_the_address_of_the_page_is_its_own() -> None:
    html = articles(
        {"headline": "A", "url": "/other"}, {"headline": "B", "url": "http://www.example.com/rye/?utm_source=x"}
    )
    assert gather(html).item["headline"] == "B"


def test_article_that_names_the_heading_of_the_page_is_its_own() -> None:
    html = articles({"headline": "Oats"}, {"headline": "Rye bread"}) + "<h1>Rye Bread!</h1>"
    assert gather(html, None).item["headline"] == "Rye bread"


def test_many_articles_of_which_none_is_the_page_are_a_list() -> None:
    html = articles(*({"headline": f"Story {number}"} for number in range(9))) + "<h1>All stories</h1>"
    assert gather(html).item == {}


def test_title_of_a_drawing_is_not_the_title_of_the_page() -> None:
    assert gather("<title>Rye</title><svg><title>Icon</title></svg>").title == "Rye"


def test_heading_that_agrees_with_the_title_is_the_main_one() -> None:
    found = gather("<title>Rye bread | Site</title><h1>Site</h1><h1></h1><h1>Rye bread</h1>")
    assert found.headings == ("Site", "Rye bread")
    assert found.heading is not None
    assert dom.text_of(found.heading) == "Rye bread"


@pytest.mark.parametrize(
    ("html", "foreign"),
    [
        ("<p id=x>", False),
        ('<div class="post-comments"><p id=x></div>', True),
        ('<div class="uncommented"><p id=x></div>', False),
        ("<nav><p id=x></nav>", True),
        ('<div class="related"><article><p id=x></article></div>', False),
        ("<aside><p id=x></aside>", True),
        ("<article><aside><p id=x></aside></article>", False),
        ('<div id="__next"><p id=x></div>', False),
        ("<article><footer><p id=x></footer></article>", False),
        ("<footer><p id=x></footer>", True),
        ('<div class="newsletter-issue"><p id=x></div>', False),
        ('<div class="newsletter-signup"><p id=x></div>', True),
    ],
)
def test_parts_that_speak_of_something_else_are_known_by_whole_words(html: str, foreign: bool) -> None:
    element = dom.first(dom.parse(html), "#x")
    assert element is not None
    assert clues.is_foreign(element) is foreign


def test_lesser_heading_the_title_begins_with_is_the_main_one_when_no_h1_is() -> None:
    found = gather("<title>A long way to good rye | Mill</title><h1>Mill</h1><h2>A long way to good rye</h2>")
    assert found.heading is not None
    assert found.heading.tag == "h2"


def test_what_holds_the_heading_too_is_the_pages_own_whatever_its_class() -> None:
    found = gather('<div class="story sidebar-mode"><h1>Rye</h1><p id=x>May 3</p></div>')
    element = dom.first(found.document, "#x")
    assert element is not None
    assert not found.is_foreign(element)
    assert clues.is_foreign(element)


def test_candidates_close_to_the_heading_come_first() -> None:
    found = gather("<p id=a></p><section><p id=b></p><h1>Rye</h1><p id=c></p></section><p id=d></p>")
    order = found.order_by_heading(dom.select(found.document, "h1, p"), 10)
    assert list(dict.fromkeys(element.attr("id") for element in order if element.tag == "p")) == ["c", "b", "d", "a"]
