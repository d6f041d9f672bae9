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


def test_button_in_a_heading_is_not_a_part_of_the_title() -> None:
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
def test_home_page_drops_its_name_only_behind_its_own_title(written: str, expected: str) -> None:
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


def og(text: str) -> str:
    return f'<meta property="og:title" content="{text}">'


def test_headline_after_the_names_of_site_and_section_is_the_title() -> None:
    headline = "Checks on flour mills begin in the north"
    site = '<meta property="og:site_name" content="Mill Office">'
    written = f"<title>Mill Office - Press - {headline}</title>"
    assert title(f"{written}{site}<h1>Navigation</h1><h1>{headline}</h1>") == headline
    assert title(f"<title>The Rye Post | {headline}</title>{og(headline)}<h1>{headline}</h1>") == headline
    assert title(f"<title>Bulletins - {headline}</title><h1>{headline}</h1>", "https://a.example/checks-flour-mills-begin-north") == headline  # fmt: skip


def test_long_heading_at_the_end_of_the_title_is_the_headline() -> None:
    headline = "Speech of the head miller at the great assembly of the mills"
    assert title(f"<title>The Miller / Speeches / {headline}</title><h1>Menu</h1><h1>{headline}</h1>") == headline


def test_umlauts_and_their_spelling_in_the_url_are_the_same_words() -> None:
    html = "<title>Zoll - Meldungen - Verkündung des Müllergesetzes</title><h1>Meldungen</h1><h1>Verkündung des Müllergesetzes</h1>"
    url = "https://amt.example/verkuendung_des_muellergesetzes.html"
    assert title(html, url) == "Verkündung des Müllergesetzes"


def test_title_for_sharing_is_not_cut_at_a_dash_when_the_title_adds_the_site() -> None:
    shared = "Report of 22 April \u2013 what is everyone waiting for?"
    assert title(f"<title>{shared} \u2013 THE GOOD MILL</title>{og(shared)}") == shared


def test_first_part_of_a_heading_stays_when_it_is_shorter_than_the_rest() -> None:
    heading = "Update | Three bakers named after the fire"
    assert title(f"<title>{heading} | News | Mill Post</title>{og(heading)}<h1>{heading}</h1>") == heading
    assert (
        title("<title>How rye rises | Opinion</title><h1>How rye rises slowly | Opinion</h1>") == "How rye rises slowly"
    )


def test_name_of_the_site_with_a_separator_in_it_is_removed_whole() -> None:
    html = '<title>Rye for all | Mill media - Bread and Views</title><meta property="og:site_name" content="Mill media - Bread and Views">'
    assert title(html) == "Rye for all"


def test_name_of_the_site_after_a_colon_is_removed() -> None:
    html = '<title>Repair day in May: Town of Rye</title><meta property="og:site_name" content="Town of Rye">'
    assert title(html) == "Repair day in May"


@pytest.mark.parametrize(
    "banner",
    ['<h1><a href="/">Crumbs of rye</a></h1>', '<a href="https://www.dailybugle.example"><h1>Crumbs of rye</h1></a>',
     "<nav><h1>Blog Archive, Crumbs of rye</h1></nav>"],
)  # fmt: skip
def test_heading_that_links_home_or_is_in_a_menu_is_not_the_title(banner: str) -> None:
    site = '<meta property="og:site_name" content="Crumbs of rye">' if "nav" in banner else ""
    html = f"<title>Crumbs of rye » Blog Archive » A long winter loaf</title>{site}{banner}<h2>A long winter loaf</h2>"
    assert title(html) == "A long winter loaf"


def test_heading_at_the_end_of_a_trail_of_links_is_the_title() -> None:
    html = "<title>Timetable: mills against rails - Trade</title>" + og("Mills against rails")
    assert title(f"{html}<nav><ol><li><h1>Timetable: mills against rails</h1></ol></nav>") == "Timetable: mills against rails"  # fmt: skip


def test_lesser_heading_is_the_title_where_the_title_element_has_more() -> None:
    html = "<title>Mill \u2022 View topic - Which stone for rye?</title><h2>Which stone for rye?</h2>"
    assert title(html, "https://www.mill.example/viewtopic.php?t=4") == "Which stone for rye?"
    assert title("<title>Electrical - Overview | Office of Mills and Rye</title><h3>Office of Mills and Rye</h3>") == (
        "Electrical - Overview"
    )


def test_hidden_label_and_kicker_in_the_heading_are_left_out() -> None:
    html = f"<title>Mills and the wind | Rye</title>{og('Mills and the wind')}"
    assert title(f"{html}<h1><div><span>Headline:</span> Mills and the wind</div></h1>") == "Mills and the wind"
    assert title(f"{html}<h1>Menu</h1><h1><em>Storm</em>Mills and the wind</h1>") == "Mills and the wind"


def test_only_heading_wins_over_a_bare_title_about_the_same() -> None:
    html = "<title>Why do mills hum?</title><h1>The lovely reason you can hear stones sing at night</h1>"
    assert title(html) == "The lovely reason you can hear stones sing at night"
    assert title(html + og("Why do mills hum?")) == "Why do mills hum?"


def test_title_that_two_places_and_the_url_agree_on_wins_over_a_slogan() -> None:
    html = f"<title>Mill repair services | Rye</title>{og('Mill repair services')}<h1>Mill repair that keeps you grinding</h1>"
    assert title(html, "https://a.example/mill-repair-services") == "Mill repair services"
    assert title(html, "https://a.example/4711") == "Mill repair that keeps you grinding"
    article = f'{html}<meta property="og:type" content="article">'
    assert title(article, "https://a.example/mill-repair-services") == "Mill repair that keeps you grinding"


def test_section_in_the_url_does_not_keep_the_section_in_the_title() -> None:
    html = f"<title>Using the mill - Stone parts | MMN</title>{og('Using the mill - Stone parts | MMN')}<h1>Using the mill</h1>"
    assert title(html, "https://manual.example/docs/Stone/Parts/Using_mill") == "Using the mill"


def test_name_of_a_program_wins_over_nothing_the_title_agrees_on() -> None:
    item = '<script type="application/ld+json">{"@type":"SoftwareApplication","name":"rye manager"}</script>'
    html = f"<title>Software for mills of any size</title>{og('Software for mills of any size')}{item}"
    assert title(html) == "Software for mills of any size"


def test_name_of_a_file_is_not_a_title() -> None:
    assert title(f"<title>Seat test 2018 | Mill</title>{og('seat-test-autumn-2018')}") == "Seat test 2018"


def test_word_of_the_host_is_not_an_agreement() -> None:
    html = "<title>Bean quarter - Town of Rye</title><h1>Town hall</h1><h1>Rye day</h1>"
    assert title(html, "https://www.rye.example/item/1") == "Bean quarter - Town of Rye"


def test_page_without_an_address_is_not_a_home_page() -> None:
    html = f"<title>Best loaves - Baking - Mill Community</title>{og('Best loaves')}"
    assert title(html, "") == title(html, None) == "Best loaves"
