from __future__ import annotations

import json

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.model import Metadata


def read(html: str, url: str = "https://example.com/a/page") -> Metadata:
    document = dom.parse(html)
    return metadata.read(document, structured.read(document), url)


def with_json_ld(author: object, *others: object) -> str:
    graph = {"@graph": [{"@type": "Article", "headline": "T", "author": author}, *others]}
    return f'<script type="application/ld+json">{json.dumps(graph)}</script>'


@pytest.mark.parametrize(
    "author",
    ["Ann Lee", {"@type": "Person", "name": "Ann Lee"}, [{"name": "Ann Lee"}],
     {"givenName": "Ann", "familyName": "Lee"},
     {"name": ["Ann Lee"]}, ["Ann Lee", "ANN LEE"], {"@id": "#ann"}],
)  # fmt: skip
def test_forms_of_an_author_in_json_ld(author: object) -> None:
    found = read(with_json_ld(author, {"@type": "Person", "@id": "#ann", "name": "Ann Lee"}))
    assert (found.author, found.origins["author"]) == ("Ann Lee", "json-ld")


def test_several_authors_are_joined() -> None:
    assert read(with_json_ld([{"name": "Ann Lee"}, {"name": "Bo Ek"}])).author == "Ann Lee, Bo Ek"


def test_reference_that_leads_nowhere_or_in_a_circle_is_survived() -> None:
    assert read(with_json_ld({"@id": "#x"}, {"@type": "Person", "@id": "#x", "name": {"@id": "#x"}})).author is None


def test_address_in_opengraph_is_not_a_name_and_the_byline_is_asked() -> None:
    html = '<meta property="article:author" content="https://social.example/annlee"><p class="byline">By Ann Lee</p>'
    found = read(html)
    assert (found.author, found.origins["author"]) == ("Ann Lee", "byline")


def test_site_as_author_gives_way_to_a_person() -> None:
    head = '<meta property="og:site_name" content="Daily Bugle"><meta name="author" content="Daily Bugle">'
    assert read(head + '<a rel="author" href="/ann">Ann Lee</a>').author == "Ann Lee"
    assert read(head).author == "Daily Bugle"


def test_label_of_wordpress_names_the_author() -> None:
    html = '<meta name="twitter:label1" content="Written by"><meta name="twitter:data1" content="Ann Lee">'
    assert read(html).author == "Ann Lee"


def test_scholarly_names_are_put_in_order() -> None:
    html = '<meta name="citation_author" content="Lee, Ann"><meta name="citation_author" content="Ek, Bo">'
    assert read(html).author == "Ann Lee, Bo Ek"


def test_name_inside_a_long_author_box_is_found() -> None:
    html = f'<div class="author-box"><h4 class="author-box__name">Ann Lee</h4><p>{"She bakes bread. " * 30}</p></div>'
    assert read(html).author == "Ann Lee"


def test_commenters_and_related_authors_are_not_the_author() -> None:
    html = (
        '<h1>T</h1><div class="comments"><span class="author">Troll One</span></div>'
        '<div class="related-posts"><span class="byline">By Someone Else</span></div>'
        '<footer><a rel="author">Footer Person</a></footer>'
    )
    assert read(html).author is None


def test_root_of_an_application_framework_is_not_foreign() -> None:
    assert read('<div id="__next"><h1>T</h1><p class="byline">By Ann Lee</p></div>').author == "Ann Lee"


def test_aside_is_the_articles_own_only_inside_an_article() -> None:
    aside = '<aside><span class="byline">By Ann Lee</span></aside>'
    assert read(f"<article><h1>T</h1>{aside}</article>").author == "Ann Lee"
    assert read(f"<h1>T</h1>{aside}").author is None


def test_classes_that_only_contain_the_word_are_not_bylines() -> None:
    html = '<body class="multi-author"><a href="#main">Main Part</a><p class="authorized-dealer">Oven World</p>'
    assert read(html).author is None


def test_line_under_the_heading_that_begins_with_by_is_a_byline() -> None:
    html = "<h1>How to bake</h1><div><span>By</span> <span>Ann Lee</span></div><p>Text of the page.</p>"
    found = read(html)
    assert (found.author, found.origins["author"]) == ("Ann Lee", "heading")


def test_home_page_does_not_take_the_author_of_a_listed_article() -> None:
    assert read('<h1>Daily</h1><p class="byline">By Ann Lee</p>', "https://example.com/").author is None


def test_organisation_as_author_gives_way_to_the_person_in_the_byline() -> None:
    html = with_json_ld({"@type": "Organization", "name": "Mill House"})
    assert read(html + '<h1>T</h1><p class="byline">By Ann Lee</p>').author == "Ann Lee"
    assert read(html).author == "Mill House"


def test_team_gives_way_to_a_person_and_stands_when_there_is_none() -> None:
    head = '<meta name="author" content="Mill House Team">'
    assert read(head + '<h1>T</h1><p class="byline">By Ann Lee</p>').author == "Ann Lee"
    assert read(head).author == "Mill House Team"
    assert read('<meta name="author" content="Staff">').author == "Staff"


def test_house_is_left_out_where_it_follows_the_names_of_people() -> None:
    head = '<meta property="og:site_name" content="Daily Bugle">'
    assert read(head + with_json_ld("Ann Lee and Bo Ek, The Daily Bugle")).author == "Ann Lee, Bo Ek"


def test_login_gives_way_to_the_full_name_in_the_visible_byline() -> None:
    html = with_json_ld({"@type": "Person", "name": "alee7"})
    assert read(html + "<h1>T</h1><p>By Ann Lee</p>").author == "Ann Lee"
    assert read(html + "<h1>T</h1><p>Some words</p>").author == "alee7"


def test_byline_that_names_the_house_ends_the_search() -> None:
    html = (
        '<meta property="og:site_name" content="Mill News"><meta name="author" content="Mill News">'
        '<h1>T</h1><p class="byline">By Mill News</p><div><p class="byline">By Bo Ek</p></div>'
    )
    assert read(html).author == "Mill News"


def test_byline_close_to_the_heading_comes_before_those_of_teasers() -> None:
    html = (
        '<ul><li><span class="byline">Bo Ek</span></li></ul><section><p class="byline">By Ann Lee</p><h1>Rye</h1></section>'
        '<ul><li><span class="byline">Cy Ray</span></li></ul>'
    )
    assert read(html).author == "Ann Lee"


def test_starter_of_a_thread_comes_before_those_who_answer() -> None:
    html = (
        '<h1>Rye?</h1><div><span>Thread starter</span> <a href="/u/1">grainfan</a></div>'
        '<div class="message-author">Deputy Baker</div>'
    )
    assert read(html).author == "grainfan"


def test_reviewer_is_not_an_author() -> None:
    html = '<h1>T</h1><p class="byline">By <a href="/author/ann">Ann Lee</a>. Reviewed by Bo Ek</p>'
    assert read(html).author == "Ann Lee"
    assert read("<h1>T</h1><p>Medically reviewed by Bo Ek</p>").author is None


def test_text_about_the_author_is_not_a_name() -> None:
    html = '<h1>T</h1><div class="author-description">Licensed miller, M.A. Baking</div>'
    assert read(html).author is None


def test_empty_link_of_a_portrait_is_passed_over_in_a_byline() -> None:
    html = '<h1>T</h1><div class="byline"><a href="/~ann"><img src=a.png></a> via <a href="/~ann">Ann Lee</a> | caches</div>'
    assert read(html).author == "Ann Lee"


def test_list_of_pages_has_none_of_their_authors() -> None:
    names = ["Ann Lee", "Bo Ek", "Cy Ray", "Di Fox", "Ed Orr", "Flo Ash"]
    cards = "".join(f'<div><h2>Loaf</h2><span class="byline">By {name}</span></div>' for name in names)
    html = f"<header><div><div><h1>News</h1></div></div></header><main><div>{cards}</div></main>"
    assert read(html, "https://example.com/news").author is None


@pytest.mark.parametrize(
    "byline",
    [
        '<address rel="author">Ann Lee</address>',
        '<address rel="author">By <a href="/people/7">Ann Lee</a></address>',
        '<address class="contact" rel="nofollow author">Ann Lee</address>',
    ],
)
def test_address_of_the_author_is_a_byline(byline: str) -> None:
    assert read(f"<article><h1>The tide mill</h1>{byline}<p>Text</p></article>").author == "Ann Lee"


def test_other_address_is_not_a_byline() -> None:
    assert read("<h1>The tide mill</h1><address>Mill Lane 3, Ann Lee</address><p>Text</p>").author is None


def author(html: str, url: str = "https://example.com/a/page") -> str | None:
    return read(html, url).author


def test_login_does_not_give_way_to_the_name_of_the_site() -> None:
    html = '<meta property="og:site_name" content="Jane Doe"><meta name="author" content="rye.mill"><h1>Rye</h1><p>By Jane Doe</p>'
    assert author(html) == "rye.mill"


def test_staff_next_to_a_person_is_left_out() -> None:
    assert read(with_json_ld(["Ann Lee", "Redaktion"])).author == "Ann Lee"


def test_surname_and_first_name_in_a_meta_tag_are_one_person() -> None:
    assert author('<meta name="author" content="Doe, Jane">') == "Jane Doe"
    assert author('<meta name="author" content="Jane Doe, John Roe">') == "Jane Doe, John Roe"


def test_all_people_of_a_byline_are_named() -> None:
    byline = (
        '<p class="byline">Written by <a href="/p/1">Jane Doe</a>, <a href="/p/2">John Roe</a> and <a>Ann Poe</a></p>'
    )
    assert author(f"<h1>Rye</h1>{byline}") == "Jane Doe, John Roe, Ann Poe"


@pytest.mark.parametrize(
    "shown",
    ['<div class="author-info">Jane Doe</div>', "<p>By Jane Doe</p>", "<span>Jane Doe</span><time>May 3, 2024</time>"],
)
def test_login_of_an_editor_gives_way_to_the_person_that_the_page_shows(shown: str) -> None:
    html = '<meta name="author" content="rye.mill"><body><div><h1>Rye</h1>' + shown + "</div>"
    assert author(html) == "Jane Doe"
    assert author('<meta name="author" content="rye.mill"><h1>Rye</h1>') == "rye.mill"


def test_organisation_without_a_type_gives_way_to_a_person() -> None:
    html = '<meta name="author" content="Institute for Bread, Rye and Mills"><h1>Rye</h1>'
    assert author(html) == "Institute for Bread, Rye and Mills"
    assert author(f"{html}<p>By Jane Doe</p>") == "Jane Doe"


def test_text_about_the_author_begins_with_the_name() -> None:
    box = '<div class="author-box">Jane Doe is a baker who has written about bread, mills and rye for many years in many places.'
    assert author(
        f"<h1>Rye</h1><p>Text.</p>{box} She lives by a river with two cats and a stone oven of her own making.</div>"
    ) == ("Jane Doe")
    assert (
        author('<h1>Rye</h1><div class="author-bio">This post was written by Jane Doe, Head of Mills</div>')
        == "Jane Doe"
    )


@pytest.mark.parametrize(
    "lines",
    ["<p><em>This post was written by</em> <a>Jane Doe, MD</a><em>, baker</em></p>",
     "<dl><dt>Author<span>:</span></dt><dd>Jane Doe</dd></dl>", "<p>Contributors: Jane Doe</p>"],
)  # fmt: skip
def test_label_and_name_may_be_in_different_elements(lines: str) -> None:
    assert author(f"<h1>Rye</h1>{lines}") == "Jane Doe"


@pytest.mark.parametrize(
    "line", ["Von Erika Muster", "von Erika Muster und Max Muster", "Por Ana Gil", "Par Anne Dubois"]
)
def test_word_for_by_in_other_languages_is_followed_by_a_person(line: str) -> None:
    assert author(f"<h1>Roggen</h1><p>{line}</p><p>Text.") == ", ".join(line.partition(" ")[2].split(" und "))


@pytest.mark.parametrize(
    "line",
    [
        "Von Natur aus gut",
        "by the mill theorem (see",
        "by default rye is",
        "Por favor, lea esto",
        "Von der Mühle zum Brot",
    ],
)
def test_sentence_that_starts_with_such_a_word_names_no_person(line: str) -> None:
    assert author(f"<h1>Roggen</h1><p>{line}</p><p>Text.") is None


def test_page_named_by_the_query_is_not_a_home_page() -> None:
    html = '<h1>Rye</h1><p class="byline">By Jane Doe</p>'
    assert author(html, "https://blog.example/?p=959") == "Jane Doe"
    assert author(html, "https://blog.example/?utm_source=mill") is None


def test_people_joined_to_the_first_are_authors_too() -> None:
    names = "<a>Jane Doe</a>, <a>John Roe</a> and <a>Ann Poe</a>"
    assert author(f"<h1>Rye</h1><p>By {names}</p>") == "Jane Doe, John Roe, Ann Poe"
    assert author(f"<h1>Rye</h1><p>{names}</p><p>Ann Other</p>") is None
    assert author(f"<h1>Rye</h1><p>May 3, 2024</p><p>{names}</p><p>Ann Other</p>") == "Jane Doe, John Roe, Ann Poe"


def test_first_user_of_a_thread_is_its_author() -> None:
    posts = '<h3 class="PostUser-name">rye_fan</h3><p>Which rye?</p><h3 class="PostUser-name">mill</h3><p>This one.</p>'
    assert author(f"<h1>Which rye?</h1>{posts}", "https://discuss.example/d/2-rye") == "rye_fan"
