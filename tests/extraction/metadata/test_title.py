from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.model import Metadata


def read(html: str, url: str | None = "https://www.dailybugle.example/a/some-page") -> Metadata:
    document = dom.parse(html)
    return metadata.read(document, structured.read(document), url)


def title(html: str, url: str | None = "https://www.dailybugle.example/a/some-page") -> str | None:
    return read(html, url).title


@pytest.mark.parametrize(
    "written",
    ["How to bake bread | Daily Bugle", "How to bake bread - The Daily Bugle", "Daily Bugle: How to bake bread",
     "Daily Bugle – How to bake bread", "How to bake bread · Baking Corner",
     "How to bake bread | Daily Bugle | Daily Bugle"],
)  # fmt: skip
def test_name_of_the_site_is_not_part_of_the_title(written: str) -> None:
    html = f'<title>{written}</title><meta property="og:site_name" content="Daily Bugle">'
    assert title(html) == "How to bake bread"


def test_dash_inside_a_headline_stays() -> None:
    written = "Rain - the long story of how it shaped our towns and rivers"
    assert title(f"<title>{written}</title>") == written


def test_heading_wins_over_a_title_it_agrees_with() -> None:
    html = (
        "<title>Bake bread at home</title>"
        '<meta property="og:title" content="Bake Bread At Home!"><h1>How to bake bread at home</h1>'
    )
    found = read(html)
    assert (found.title, found.origins["title"]) == ("How to bake bread at home", "heading")


def test_heading_about_something_else_does_not_win() -> None:
    html = "<title>How to bake bread</title><h1>Welcome, dear reader</h1><h1>Sign in</h1>"
    assert title(html) == "How to bake bread"


def test_heading_that_names_the_blog_does_not_win() -> None:
    assert (
        title("<title>How to bake bread | Crumbs and Crusts</title><h1>Crumbs and Crusts</h1>") == "How to bake bread"
    )
    assert title(
        "<title>Crumbs and Crusts: How to bake bread</title><h1>Crumbs and Crusts</h1><h1>How to bake bread</h1>"
    ) == ("How to bake bread")


def test_heading_that_agrees_with_the_address_wins_over_a_slogan() -> None:
    html = "<title>The front door of the net</title><h1>Which oven for rye bread?</h1>"
    assert title(html, "https://forum.example/t/which_oven_for_rye_bread") == "Which oven for rye bread?"


def test_json_ld_wins_over_opengraph_when_no_heading_agrees() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"Article","headline":"From &amp; JSON"}</script>'
        '<meta property="og:title" content="From OpenGraph">'
    )
    found = read(html)
    assert (found.title, found.origins["title"]) == ("From & JSON", "json-ld")


def test_permalink_sign_is_not_part_of_the_heading() -> None:
    assert title("<title>Quickstart — Oven Documentation</title><h1>Quickstart<a>¶</a></h1>") == "Quickstart"


def test_home_page_keeps_the_name_of_the_site() -> None:
    html = (
        '<title>Daily Bugle: news of the town</title><meta property="og:site_name" content="Daily Bugle"><h1>Flood</h1>'
    )
    assert title(html, "https://www.dailybugle.example/") == "Daily Bugle: news of the town"


def test_heading_is_enough() -> None:
    assert title("<h1>Only a heading</h1>", None) == "Only a heading"


def test_page_without_any_title_has_none() -> None:
    assert title("<p>text") is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("How do I bake rye? / Bread talk / Daily Bugle Forums", "How do I bake rye?"),
        ("How to bake bread :: Daily Bugle", "How to bake bread"),
        ("How to bake bread [Daily Bugle]", "How to bake bread"),
        ("如何烤面包_美食_每日面包", "如何烤面包"),
        ("Input/output and other tales of bread", "Input/output and other tales of bread"),
    ],
)
def test_separators_of_forums_brackets_and_chinese_titles_are_known(written: str, expected: str) -> None:
    html = f'<title>{written}</title><meta property="og:site_name" content="Daily Bugle">'
    assert title(html, "https://www.dailybugle.example/a") == expected


def test_label_beside_the_headline_in_its_own_element_is_left_out() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"DiscussionForumPosting","headline":"How sour is rye?"}</script>'
        "<title>Help - How sour is rye? | Forum</title>"
    )
    assert title(html + '<h1><span class="label">Help</span> How sour is rye?</h1>') == "How sour is rye?"
    assert title(html + "<h1><a>How sour is rye?</a> <span>(mill.example)</span> 87</h1>") == "How sour is rye?"


def test_button_in_a_heading_is_no_part_of_the_title() -> None:
    assert title("<title>rye - Mill</title><h1>Crate rye <button>Copy item path</button></h1>") == "Crate rye"


def test_name_of_the_blog_before_the_headline_is_not_the_headline() -> None:
    html = '<title>Lessons baked: The lean loaf</title><meta property="og:title" content="The lean loaf"><h1>Lessons baked</h1>'
    assert title(html) == "The lean loaf"


def test_name_of_the_book_that_closes_the_title_is_dropped() -> None:
    html = "<title>Doughs with traits - The Long Book of Rye and Bread</title><h1>The Long Book of Rye and Bread</h1>"
    assert title(html) == "Doughs with traits"


def test_short_heading_that_the_title_begins_with_is_better_than_the_whole_title() -> None:
    assert title("<title>News | National Bread Support Accelerator</title><h1>News</h1>") == "News"


@pytest.mark.parametrize(
    ("written", "expected"),
    [("Bread and rye platform | Daily Bugle", "Bread and rye platform"), ("Daily Bugle - Bread", "Daily Bugle - Bread"),
     ("Bread | Daily Bugle", "Bread | Daily Bugle")],
)  # fmt: skip
def test_home_page_drops_its_name_only_behind_a_title_of_its_own(written: str, expected: str) -> None:
    html = f'<title>{written}</title><meta property="og:site_name" content="Daily Bugle">'
    assert title(html, "https://www.dailybugle.example/") == expected


def test_the_sign_of_a_headings_link_to_itself_is_not_in_the_title() -> None:
    from pagekeep.pipeline import extract

    for heading in ("<a class=header-anchor href=#l>#</a> Lamps of brass", "Lamps of brass<a href=#l>\u00b6</a>"):
        page = extract(
            f"<title>Lamps of brass | Site</title><body><h1>{heading}</h1><p>Text.</p>", "https://example.com/l"
        )
        assert page.metadata.title == "Lamps of brass"


SEED_PAGE = (
    '<html><head><meta property="og:title" content="Test Article"><title>Fallback Title</title></head>'
    "<body><h1>Header</h1></body></html>"
)


@pytest.mark.parametrize("url", [None, "https://example.com", "https://example.com/a/test-page"])
def test_title_for_sharing_wins_over_a_placeholder_wherever_the_page_is(url: str | None) -> None:
    assert title(SEED_PAGE, url) == "Test Article"


def test_title_of_a_home_page_wins_when_the_title_for_sharing_agrees() -> None:
    html = '<meta property="og:title" content="Lamps by Ann"><title>Lamps and lanterns</title><h1>Sale</h1>'
    assert title(html, "https://example.com") == "Lamps and lanterns"
