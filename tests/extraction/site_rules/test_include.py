"""What a rule wants in the result comes back where it stood, once."""

from __future__ import annotations

import re

import pytest

from pagekeep import dom
from pagekeep.extraction.site_rules import select
from pagekeep.pipeline import extract
from pagekeep.rules.rule import Scope, Thresholds

URL = "https://example.com/mill"
QUOTE = '<aside class="pull"><p>The wheel is the heart of it, she said, and laughed.</p></aside>'
GALLERY = '<aside class="gallery"><img src="/one.jpg" alt="one"><img src="/two.jpg" alt="two"></aside>'
TABLE = '<aside class="facts"><table><tr><th>Built</th><th>Height</th></tr><tr><td>1871</td><td>9 metres</td></tr></table></aside>'


def paragraph(number: int) -> str:
    return f"<p>Paragraph {number} of the tale says that the wheel turned through the dry summer, and nobody asked why it did.</p>"


def page(*pieces: str, after: str = "") -> str:
    return f"<!doctype html><title>The mill</title><body><article><h1>The mill</h1>{''.join(pieces)}</article>{after}"


def tale(middle: str) -> str:
    """A page with the piece between its third paragraph and its fourth."""
    return page(*map(paragraph, (1, 2, 3)), middle, *map(paragraph, (4, 5, 6)))


def order(text: str, *wanted: str) -> list[str]:
    """Return the expected pieces in the order of the text, each as often as it occurs."""
    return re.findall("|".join(map(re.escape, wanted)), text)


def included(book, rule, html, *selectors, **said):
    return extract(html, URL, rules=book(rule(include=selectors, **said)))


@pytest.mark.parametrize(
    ("piece", "selector", "mark"),
    [
        (QUOTE, ".pull", "heart of it"),
        (GALLERY, ".gallery", "![one]"),
        (TABLE, ".facts", "9 metres"),
        (f"<div class=wrap><div>{QUOTE}</div></div>", ".pull", "heart of it"),
        ('<div class="box" hidden><p>Folded away until somebody asks for it.</p></div>', ".box", "Folded away"),
    ],
)
@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_part_comes_back_where_it_stood(rule, book, piece, selector, mark, phase):
    html = tale(piece)
    assert mark not in extract(html, URL).markdown  # the extractor leaves it out by itself
    result = included(book, rule, html, selector, phase=phase)
    assert order(result.markdown, "Paragraph 3", mark, "Paragraph 4")[:3] == ["Paragraph 3", mark, "Paragraph 4"]
    effect = result.trace.rules[-1].effects[0]
    assert (effect.what, effect.selector, effect.count, effect.note) == ("include", selector, 1, "where it stood")


def test_what_the_result_already_holds_is_not_put_in_again(rule, book):
    html = tale("<p class=kept>A line of the article itself that the extractor keeps anyway.</p>")
    result = included(book, rule, html, ".kept")
    assert result.markdown == extract(html, URL).markdown
    assert result.trace.rules[0].effects[0].note == "already there"


def test_of_a_part_that_is_half_there_the_other_half_comes_back(rule, book):
    kept = "A line of the article itself that the extractor keeps anyway."
    html = tale(
        f"<p>{kept}</p><aside class=box><p>{kept}</p><p>Another line that only the box holds, in so many words.</p></aside>"
    )
    result = included(book, rule, html, ".box")
    assert result.text.count(kept) == 1
    assert "only the box" in result.text


def test_several_parts_keep_their_order(rule, book):
    pieces = "".join(
        f"<aside class=box><p>Box number {n} says something of its own here.</p></aside>" for n in (1, 2, 3)
    )
    html = page(paragraph(1), paragraph(2), pieces, paragraph(3), QUOTE, paragraph(4), paragraph(5))
    result = included(book, rule, html, ".pull", ".box")
    wanted = ("number 1", "number 2", "number 3", "heart of it", "Paragraph 2", "Paragraph 3", "Paragraph 4")
    assert order(result.text, *wanted) == [
        *("Paragraph 2", "number 1", "number 2", "number 3", "Paragraph 3", "heart of it", "Paragraph 4"),
    ]


def test_a_part_within_a_part_comes_back_once(rule, book):
    html = tale(f"<aside class=outer><p>The outer part has words of its own.</p>{QUOTE}</aside>")
    result = included(book, rule, html, ".outer", ".pull")
    assert result.text.count("heart of it") == 1


def test_two_rules_that_want_the_same_get_it_once(rule, book):
    rules = book(
        rule("a", include=(".pull",)), rule("b", include=(".pull",)), rule("c", phase="post", include=(".pull",))
    )
    assert extract(tale(QUOTE), URL, rules=rules).text.count("heart of it") == 1


def test_a_part_is_cleaned_by_the_removals(rule, book):
    piece = '<aside class="pull"><p>The wheel is the heart of it.</p><p class="ad">Buy a wheel today.</p><p class="late">Mind the gap.</p></aside>'
    rules = book(rule("a", include=(".pull",), remove=(".ad",)), rule("b", phase="post", remove=(".late",)))
    text = extract(tale(piece), URL, rules=rules).text
    assert "heart of it" in text
    assert "Buy a wheel" not in text
    assert "Mind the gap" not in text


def test_a_part_comes_back_though_it_is_in_what_is_removed(rule, book):
    html = tale(f"<div class=junk><p>Junk.</p>{QUOTE}</div>")
    text = included(book, rule, html, ".pull", remove=(".junk",)).text
    assert order(text, "Paragraph 3", "heart of it", "Junk", "Paragraph 4") == [
        "Paragraph 3",
        "heart of it",
        "Paragraph 4",
    ]


def test_a_part_comes_back_from_outside_the_scope(rule, book):
    html = page(*map(paragraph, range(1, 7)), after=f"<div id=far>{QUOTE}</div>")
    result = included(book, rule, html, ".pull", selector_overrides=Scope(article="article"))
    assert order(result.text, "Paragraph 6", "heart of it") == ["Paragraph 6", "heart of it"]


def test_a_part_before_the_article_comes_first(rule, book):
    html = f"<!doctype html><title>x</title><body><div>{QUOTE}</div><article>{''.join(map(paragraph, range(1, 7)))}</article>"
    assert included(book, rule, html, ".pull").text.startswith("The wheel is the heart")


def test_a_part_is_never_put_between_the_items_of_a_list(rule, book):
    items = "".join(f"<li>Item {n} of the list goes on for quite a while so that it is kept</li>" for n in range(1, 6))
    html = page(paragraph(1), paragraph(2), f"<div><ul>{items}</ul>{QUOTE}</div>", paragraph(3), paragraph(4))
    root = dom.parse_fragment(included(book, rule, html, ".pull").html)
    assert not dom.select(root, "li aside, li blockquote, ul > p")
    assert order(dom.text_of(root), "Item 5", "heart of it", "Paragraph 3") == ["Item 5", "heart of it", "Paragraph 3"]


def test_an_item_comes_back_into_its_list(rule, book):
    html = page(
        paragraph(1),
        paragraph(2),
        paragraph(3),
        "<ul><li>Rye in the autumn, as ever it was</li><li class=x hidden>Oats in the spring</li><li>Barley whenever there is room</li></ul>",
    )
    result = included(book, rule, html, ".x")
    assert (
        "- Rye in the autumn, as ever it was\n- Oats in the spring\n- Barley whenever there is room" in result.markdown
    )


def test_nothing_is_put_into_a_bookmark(rule, book):
    result = included(book, rule, tale(QUOTE), ".pull", quality=Thresholds(min_words=5_000))
    assert result.quality.level == "bookmark"
    assert "heart" not in result.markdown


def test_a_bad_selector_puts_nothing_back(rule, book):
    html = tale(QUOTE)
    assert "heart of it" in included(book, rule, html, "..", ".pull").text
    assert included(book, rule, html, "[[").text == extract(html, URL).text


# The order of the ways to find the place, each without those before it.


def parts_of(html: str, css: str) -> tuple[select.Part, ...]:
    return select.collect_parts(dom.parse_fragment(html), [("r", css)])


def put(result: str, parts: tuple[select.Part, ...]) -> tuple[str, list[str]]:
    content = dom.parse_fragment(result)
    places = select.put_back(content, parts, ())
    return dom.inner_html(content), places


def test_by_similar_text_when_no_neighbour_stands_as_it_was():
    page = "<p>The wheel turned slowly through the long dry summer days</p><b class=x>X!</b>"
    result = "<p>Before all that there was rain</p><p>The wheel turned slowly through the long dry summer</p><p>Later it stood</p>"
    html, places = put(result, parts_of(page, ".x"))
    assert places == ["by similar text"]
    assert html.index("long dry summer") < html.index("X!") < html.index("Later")


def test_a_pull_quote_goes_behind_the_paragraph_it_is_taken_from():
    page = "<div class=x>The miller waited for rain every day</div>"
    result = "<p>One thing is sure.</p><p>The miller waited for rain every day, he did.</p><p>Another is not.</p>"
    html, places = put(result, parts_of(page, ".x"))
    assert places == ["by similar text"]
    assert html.index("he did") < html.index("<div") < html.index("Another")


def test_below_its_heading_when_nothing_else_is_left():
    gone = "".join(f"<p>Gone {n}</p>" for n in range(60))
    page = f"<h2>Wheels</h2>{gone}<b class=x>X!</b>"
    html, places = put("<h2>Stones</h2><p>a</p><h2>Wheels</h2><p>b</p>", parts_of(page, ".x"))
    assert places == ["below its heading"]
    assert html == '<h2>Stones</h2><p>a</p><h2>Wheels</h2><b class="x">X!</b><p>b</p>'


def test_at_the_end_when_nothing_shows_the_place():
    html, places = put("<p>a</p><p>b</p>", parts_of("<p>c</p><b class=x>X!</b>", ".x"))
    assert places == ["at the end"]
    assert html == '<p>a</p><p>b</p><b class="x">X!</b>'


def test_the_nearer_neighbour_shows_the_place():
    page = "<p>far above</p><p>gone</p><p>gone too</p><b class=x>X!</b><p>right below</p>"
    html, _ = put("<p>far above</p><i>new</i><p>right below</p>", parts_of(page, ".x"))
    assert html == '<p>far above</p><i>new</i><b class="x">X!</b><p>right below</p>'


def test_a_neighbour_that_occurs_twice_shows_no_place():
    page = "<p>unique</p><p>twice</p><b class=x>X!</b>"
    html, _ = put("<p>twice</p><p>unique</p><p>twice</p>", parts_of(page, ".x"))
    assert html == '<p>twice</p><p>unique</p><b class="x">X!</b><p>twice</p>'


def test_hostile_pages_cost_no_more_than_their_size():
    html = "<div>" * 400 + "".join(f"<p class=x>part {n}</p>" for n in range(3_000)) + "</div>" * 400
    parts = parts_of(html, ".x")
    assert len(parts) == select.MAX_PARTS
    _, places = put("<p>a</p>", parts)
    assert set(places) == {"at the end", "where it stood"}
