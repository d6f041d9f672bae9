from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.model import Metadata
from pagekeep.pipeline import extract


def read(html: str, url: str | None = "https://example.com/a/page") -> Metadata:
    document = dom.parse(html)
    return metadata.read(document, structured.read(document), url)


def test_places_are_asked_from_the_most_to_the_least_trustworthy() -> None:
    layers = [
        '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-01-01"}</script>',
        '<meta property="article:published_time" content="2024-01-02T10:00:00Z">',
        '<meta name="dc.date" content="2024-01-03">',
        '<b itemprop="datePublished" content="2024-01-04"></b>',
        '<h1>T</h1><time datetime="2024-01-05">x</time>',
    ]
    found = [read("".join(layers[start:]), "https://example.com/2024/01/06/x") for start in range(6)]
    assert [(about.published or "")[:10] for about in found] == [f"2024-01-0{day}" for day in range(1, 7)]
    assert [about.origins["published"] for about in found] == [
        "json-ld",
        "opengraph",
        "meta",
        "microdata",
        "time",
        "address",
    ]


def test_published_and_modified_are_kept_apart() -> None:
    html = (
        '<script type="application/ld+json">{"@type":"Article","dateModified":"2024-05-01T10:00:00+02:00"}</script>'
        "<h1>T</h1>"
    )
    found = read(html)
    assert found.published is None
    assert found.modified == "2024-05-01T10:00:00+02:00"


def test_date_of_publication_is_preferred_to_one_of_change_on_the_page() -> None:
    html = (
        '<h1>T</h1><time datetime="2024-05-01">Updated May 1, 2024</time>'
        '<time datetime="2024-03-05">March 5, 2024</time>'
    )
    assert read(html).published == "2024-03-05"


@pytest.mark.parametrize(
    "html",
    [
        '<h1>T</h1><div class="comment"><time datetime="2024-03-05">x</time></div>',
        '<h1>T</h1><div class="related-articles"><time datetime="2024-03-05">x</time></div>',
        '<h1>T</h1><p>Text.</p><footer><time datetime="2024-03-05">x</time></footer>',
        "<h1>T</h1><p>© 2024-03-05 Example</p>",
    ],
)
def test_dates_of_comments_related_pages_and_footers_are_not_taken(html: str) -> None:
    assert read(html).published is None


def test_date_behind_the_heading_wins_over_one_ahead_of_it() -> None:
    html = '<time datetime="2025-09-09">Today</time><h1>T</h1><time datetime="2024-03-05">x</time>'
    assert read(html).published == "2024-03-05"


def test_short_line_by_the_heading_may_hold_the_date() -> None:
    found = read("<h1>How to bake</h1><div><p>Ann Lee | March 5, 2024 | 4 min read</p></div><p>Text.</p>")
    assert (found.published, found.origins["published"]) == ("2024-03-05", "heading")


def test_date_deep_in_the_text_is_not_the_pages() -> None:
    paragraph = "<p>" + "It rained again in the small town by the river and nobody minded much. " * 3 + "</p>"
    assert read(f"<h1>Rain</h1>{paragraph * 3}<p>On March 5, 2001</p>").published is None


def test_language_of_the_page_decides_between_day_and_month() -> None:
    line = "<h1>T</h1><p>03/05/2024</p>"
    assert read(f'<html lang="en-US">{line}').published == "2024-03-05"
    assert read(f'<html lang="en-GB">{line}').published == "2024-05-03"


def test_unix_seconds_in_json_ld_are_read() -> None:
    html = '<script type="application/ld+json">{"@type":"Article","datePublished":1709600000}</script>'
    assert read(html).published == "2024-03-05T00:53:20Z"


STATED = '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-08-07T03:00:00Z"}</script>'


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("<p>Dec 30, 2013</p>", "2013-12-30"),
        ("<p>Posted on Dec 30, 2013 by Ann</p>", "2013-12-30"),
        ("<p>August 6, 2024</p>", "2024-08-07T03:00:00Z"),
        ("<p>Dec 30, 2013</p><p>August 7, 2024</p>", "2024-08-07T03:00:00Z"),
        ("<p>Updated Dec 30, 2025</p>", "2024-08-07T03:00:00Z"),
        ("<p><b>Last updated:</b> <i>Dec 30, 2025</i></p>", "2024-08-07T03:00:00Z"),
        ('<p class="post-modified">Dec 30, 2025</p>', "2024-08-07T03:00:00Z"),
        ("<p>Mis à jour le 30 décembre 2025</p>", "2024-08-07T03:00:00Z"),
        ("<p>The festival of bread and cake opens its doors to everyone on Dec 30, 2025</p>", "2024-08-07T03:00:00Z"),
        ('<div class="related"><p>Dec 30, 2013</p></div>', "2024-08-07T03:00:00Z"),
    ],
)
def test_date_shown_by_the_heading_wins_over_quite_another_stated_one(shown: str, expected: str) -> None:
    assert read(f"{STATED}<h1>Rye</h1>{shown}").published == expected


def test_day_in_the_address_is_that_of_the_place_when_the_stated_one_is_a_day_off() -> None:
    assert read(STATED, "https://example.com/2024/08/06/rye").published == "2024-08-06"
    assert read(STATED, "https://example.com/2023/08/06/rye").published == "2024-08-07T03:00:00Z"


def test_date_ahead_of_the_heading_in_its_block_wins_over_those_of_listed_pages() -> None:
    html = (
        '<section><span class="date">May 3, 2024</span><h1>Rye</h1></section>'
        '<ul><li><span class="date">May 9, 2024</span></li></ul>'
    )
    assert read(html).published == "2024-05-03"


def test_month_alone_is_kept_as_precise_as_it_is_stated() -> None:
    assert read("<h1>Rye</h1><p>November 2015</p>").published == "2015-11"
    assert read("<h1>Rye</h1><p><em>April 2024</em> (<a href=/all>all versions</a>)</p>").published == "2024-04"
    assert read(f"<h1>Rye</h1><div><i>Issue</i> <b>May 2016</b><p>{'Rye grows. ' * 20}</div>").published == "2016-05"
    assert read("<h1>Rye</h1><p>Closed since November 2015</p>").published is None


@pytest.mark.parametrize(
    "notice",
    [
        "<td>This page cites no sources. <small><i>(<span>June 2024</span>)</i></small></td>",
        "<td>Sources? <small class=date-container><i>(<span class=date>June 2024</span>)</i></small></td>",
        "<td>Whoever knows where the rye of these fields went and how much there was of it should write it here, as of"
        " <b>June 2024</b></td>",
    ],
)
def test_month_in_a_notice_is_not_a_date_of_publication(notice: str) -> None:
    assert read(f"<h1>Rye</h1><table><tr>{notice}</tr></table><p>Rye is a grass.</p>").published is None


def test_meta_of_a_houses_own_making_is_understood() -> None:
    assert read('<meta name="x-published-date" content="2025-05-27T06:03:43Z">').published == "2025-05-27T06:03:43Z"


def test_question_of_a_forum_has_the_date_it_was_asked() -> None:
    html = (
        '<div itemscope itemtype="https://schema.org/Question"><time itemprop="dateCreated" datetime="2010-10-16">x</time>'
        '<div itemscope itemtype="https://schema.org/Answer"><time itemprop="dateCreated" datetime="2019-09-17">y</time>'
    )
    assert read(html).published == "2010-10-16"


def test_element_that_counts_time_by_script_is_read() -> None:
    assert read('<h1>Rye</h1><relative-time datetime="2024-05-03T10:00:00Z">').published == "2024-05-03T10:00:00Z"


@pytest.mark.parametrize(
    "line", ["Registered: 2024-01-27", "Member since May 3, 2020", "\u00a9 May 3, 2020 Mill", "Joined May 3, 2020"]
)
def test_day_of_something_else_is_not_the_pages(line: str) -> None:
    assert read(f"<section><h1>Rye</h1><p>{line}</p></section>").published is None


def test_list_of_pages_has_none_of_their_dates() -> None:
    cards = "".join(f'<div><h2>Loaf {day}</h2><span class="date">May {day}, 2024</span></div>' for day in range(1, 9))
    html = f"<header><div><div><h1>News</h1></div></div></header><main><div>{cards}</div></main>"
    assert read(html, "https://example.com/news").published is None
    assert read(html, "https://example.com/forum/thread-1").published == "2024-05-01"


def test_the_number_of_a_volume_is_not_a_day() -> None:
    html = (
        '<meta name="citation_publication_date" content="2025/01/20"><body><p>Volume 12, February 2025</p>'
        "<h1>Salt in harbour walls</h1><p>Ada Quist</p>"
    )
    page = extract(html, "https://example.com/salt")
    assert page.metadata.published == "2025-01-20"


def test_the_only_day_a_page_shows_is_its_own_wherever_it_stands() -> None:
    text = "<p>Rye stands tall in the wind and is cut late in the year.</p>" * 10
    about = read(f"<div>Rye</div>{text}<div><b>Ada Grey</b><small>May 3, 2024</small></div>")
    assert (about.published, about.origins["published"]) == ("2024-05-03", "line")


@pytest.mark.parametrize(
    "shown",
    [
        "<small>May 3, 2024</small><small>May 9, 2024</small>",
        "<small>Sowing begins on May 3, 2024</small>",
        "<table><tr><td>May 3, 2024</td></tr></table>",
        "<div class=related><small>May 3, 2024</small></div>",
        "<blockquote><p>Rye!</p><a href=/1>May 3, 2024</a></blockquote>",
        "<script>May 3, 2024</script>",
    ],
)
def test_a_day_of_something_else_is_not_taken_for_the_pages_own(shown: str) -> None:
    text = "<p>Rye stands tall in the wind and is cut late in the year.</p>" * 10
    assert read(f"<div>Rye</div>{text}<div>{shown}</div>").published is None


@pytest.mark.parametrize(
    "name",
    ["published_on", "ms.date", "DC.date.issued", "sailthru.date", "parsely-pub-date", "citation_publication_date", "date",
     "pubdate", "article.published", "bt:pubDate", "og:publish_date", "article:published_date", "prism.publicationDate",
     "date-pub", "og:release_date", "weibo: article:create_at", "shareaholic:article_published_time", "w-published-date", "cXenseParse:mnv-pubday"],
)  # fmt: skip
def test_date_is_read_from_meta_of_many_names(name: str) -> None:
    assert read(f'<meta name="{name}" content="2024-05-03">').published == "2024-05-03"
    assert read(f'<meta property="{name.upper()}" content="2024-05-03">').published == "2024-05-03"


@pytest.mark.parametrize("name", ["post_modified_date", "publish_update_time", "sailthru.expire_date", "x-cached-on"])
def test_meta_about_something_else_is_not_a_date_of_publication(name: str) -> None:
    assert read(f'<meta name="{name}" content="2024-05-03">').published is None


def test_meta_with_its_content_in_value_is_read() -> None:
    assert read('<meta name="article:published_time" value="2024-05-03">').published == "2024-05-03"


@pytest.mark.parametrize(
    ("lang", "url", "expected"),
    [
        ("en", "https://example.co.uk/a", "2024-05-03"),
        ("en", "https://example.com/en-gb/a", "2024-05-03"),
        ("en", "https://example.com/en-us/a", "2024-03-05"),
        ("en", "https://example.com/a", "2024-03-05"),
        ("", "https://example.de/a", "2024-05-03"),
        ("en-US", "https://example.co.uk/a", "2024-03-05"),
    ],
)
def test_country_of_the_address_decides_between_day_and_month_in_english(lang: str, url: str, expected: str) -> None:
    assert read(f'<html lang="{lang}"><h1>Rye</h1><p>03/05/2024</p>', url).published == expected


def test_shown_date_that_agrees_in_the_other_order_is_the_stated_one() -> None:
    stated = '<meta property="article:published_time" content="2024-11-02T14:00:00Z">'
    assert read(f"{stated}<h1>Rye</h1><p>02/11/2024</p>").published == "2024-11-02T14:00:00Z"
    assert read(f"{stated}<h1>Rye</h1><p>11-02-24</p>").published == "2024-11-02T14:00:00Z"


def test_day_off_that_no_time_zone_explains_is_another_day() -> None:
    late = '<meta property="article:published_time" content="2024-08-07T22:00:00Z">'
    assert read(f"{late}<h1>Rye</h1><p>August 6, 2024</p>").published == "2024-08-06"
    assert read(f"{late}<h1>Rye</h1><p>August 8, 2024</p>").published == "2024-08-07T22:00:00Z"
    assert read(late, "https://example.com/2024/08/06/rye").published == "2024-08-07T22:00:00Z"


def test_stated_day_that_the_page_shows_too_wins_over_that_of_the_address() -> None:
    assert read(f"{STATED}<h1>Rye</h1><p>August 7, 2024</p>", "https://example.com/2024/08/06/rye").published == (
        "2024-08-07T03:00:00Z"
    )


def test_day_after_the_last_change_is_that_of_an_event() -> None:
    changed = '<meta property="article:modified_time" content="2024-08-09">'
    assert read(f"{STATED}{changed}<h1>Rye</h1><p>December 30, 2024</p>").published == "2024-08-07T03:00:00Z"
    assert read(f"{STATED}<h1>Rye</h1><p>December 30, 2024</p>").published == "2024-12-30"


def test_year_of_two_digits_is_read_near_the_heading_only() -> None:
    assert read('<html lang="de"><h1>Roggen</h1><p>Ernte, 05.03.24</p>').published == "2024-03-05"
    assert (
        read('<html lang="zh"><title>黑麦的收成</title><h1>黑麦的收成</h1><p>发布时间：24-03-05 10:20</p>').published
        == "2024-03-05"
    )
    text = "<p>" + "Roggen steht hoch im Wind und wird spät geschnitten. " * 4 + "</p>"
    assert read(f'<html lang="de"><h1>Roggen</h1>{text * 3}<p>05.03.24</p>').published is None


@pytest.mark.parametrize(
    "line",
    [
        "2024年3月5日 10:20　来源：山村报",
        "2024-03-05 10:20",
        "发布时间：2024/03/05",
        "民國113年3月5日",
        "二〇二四年三月五日",
    ],
)
def test_date_under_a_title_that_is_not_a_heading_is_found(line: str) -> None:
    links = "".join(f"<li><a href=/{day}>村里的新闻</a><span>2024-02-{day}</span></li>" for day in range(10, 20))
    html = (
        "<title>山谷里的黑麦今年长得很高_山村报</title><h1>山村报</h1><ul><li>2024年9月9日 星期一</li></ul>"
        f"<div><div class=tit>山谷里的黑麦今年长得很高</div><div class=xx>{line}</div>"
        f"<p>{'黑麦在风中长得很高，秋天很晚才收割。' * 9}</p></div><ul>{links}</ul>"
    )
    assert (read(html).published or "")[:10] == "2024-03-05"


def test_teaser_in_the_name_of_the_line_itself_says_nothing() -> None:
    assert read('<div><h1>Rye</h1><p class="teaser-meta">May 3, 2024</p></div>').published == "2024-05-03"


def test_date_in_a_linked_card_is_another_pages() -> None:
    card = "<a href='/x'><h3>How the old mill by the river was rebuilt</h3><div class='published'>May 9, 2024</div></a>"
    own = "<div class='published'>May 3, 2024</div>"
    html = f"<div>{own}<div><div><div><div><h1>Rye</h1></div></div></div></div></div>"
    assert read(f"{html}<div>{card}</div>").published == "2024-05-03"


def test_page_chosen_by_number_is_not_the_home_page() -> None:
    html = "<h1>Rye</h1><p>May 3, 2024</p>"
    assert read(html, "https://example.com/?p=959").published == "2024-05-03"
    assert read(html, "https://example.com/?utm_source=x").published is None


def test_date_at_the_start_of_the_title_is_the_last_but_one_resort() -> None:
    assert read("<title>03.05.2024 | Rye - The mill</title><h1>Rye</h1>").published == "2024-05-03"
    assert read("<title>Rye of 03.05.2024</title><h1>Rye</h1>").published is None


def test_product_has_no_date_from_the_far_corners_of_its_page() -> None:
    offer = '<script type="application/ld+json">{"@type": "Product", "name": "Mug"}</script>'
    assert read(f"{offer}<h1>Mug</h1><script>var publishDate = '2024-05-03'</script>").published is None


TEASERS = "".join(f"<li><b>Loaf {day}</b><span class='date'>May {day}, 2024</span></li>" for day in range(10, 20))


def test_date_with_its_own_markup_is_distinguished_from_those_of_a_list() -> None:
    own = "<header><div><div><div><h1>Rye</h1></div></div></div></header><main><div class='published'>May 3, 2024</div>"
    assert read(f"{own}<p>Rye is a grass.</p><ul>{TEASERS}</ul></main>").published == "2024-05-03"


def test_line_near_the_heading_with_its_own_markup_is_distinguished_from_those_of_a_list() -> None:
    items = TEASERS.replace("class='date'", "")
    assert read(f"<h1>Rye</h1><div>May 3, 2024</div><ul>{items}</ul>").published == "2024-05-03"
    assert read(f"<h1>Rye</h1><ul>{items}</ul>").published is None


def test_date_of_the_address_wins_over_another_that_is_not_beside_the_heading() -> None:
    html = '<time datetime="2024-09-09T10:00">x</time><div><div><div><div><h1>Rye</h1></div></div></div></div><p>Rye is a grass.'
    assert read(html).published == "2024-09-09T10:00:00"
    assert read(html, "https://example.com/2024/05/03/rye").published == "2024-05-03"
    assert read(html, "https://example.com/2024/09/09/rye").published == "2024-09-09T10:00:00"


def test_date_named_both_published_and_updated_is_that_of_the_publication() -> None:
    later = '<time class="updated" datetime="2024-05-09">x</time>'
    own = '<time class="entry-date published updated" datetime="2024-05-03">x</time>'
    assert read(f"<h1>Rye</h1>{later}{own}").published == "2024-05-03"


@pytest.mark.parametrize(
    "html",
    [
        '<abbr class="published" title="2024-05-03T10:00:00">3 days ago</abbr>',
        '<span class="timeago" title="2024-05-03T10:00:00Z"></span>',
        '<span title="2024-05-03 10:00">3 days ago</span>',
    ],
)
def test_date_in_the_title_of_a_relative_time_is_read(html: str) -> None:
    assert (read(f"<div><h1>Rye</h1>{html}</div>").published or "")[:10] == "2024-05-03"


def test_footer_of_the_heading_is_the_pages_own() -> None:
    assert read('<div><h1>Rye</h1><div class="hero-footer"><p>May 3, 2024</p></div></div>').published == "2024-05-03"
    assert read('<div><h1>Rye</h1></div><div class="footer"><p>May 3, 2024</p></div>').published is None


def test_date_in_the_attributes_of_rdfa_is_read() -> None:
    html = '<h1>Rye</h1><span property="dc:date dc:created" content="2024-05-03T10:00:00+02:00">on Friday</span>'
    assert read(html).published == "2024-05-03T10:00:00+02:00"
    changed = html.replace("dc:date dc:created", "schema:dateModified")
    assert read(f'{changed}<time datetime="2024-05-01">x</time>').published == "2024-05-01"
