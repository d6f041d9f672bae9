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


STATED = '<script type="application/ld+json">{"@type":"Article","datePublished":"2024-08-07T12:00:00Z"}</script>'


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("<p>Dec 30, 2013</p>", "2013-12-30"),
        ("<p>Posted on Dec 30, 2013 by Ann</p>", "2013-12-30"),
        ("<p>August 6, 2024</p>", "2024-08-07T12:00:00Z"),
        ("<p>Dec 30, 2013</p><p>August 7, 2024</p>", "2024-08-07T12:00:00Z"),
        ("<p>Updated Dec 30, 2025</p>", "2024-08-07T12:00:00Z"),
        ("<p><b>Last updated:</b> <i>Dec 30, 2025</i></p>", "2024-08-07T12:00:00Z"),
        ('<p class="post-modified">Dec 30, 2025</p>', "2024-08-07T12:00:00Z"),
        ("<p>Mis à jour le 30 décembre 2025</p>", "2024-08-07T12:00:00Z"),
        ("<p>The festival of bread and cake opens its doors to everyone on Dec 30, 2025</p>", "2024-08-07T12:00:00Z"),
        ('<div class="related"><p>Dec 30, 2013</p></div>', "2024-08-07T12:00:00Z"),
    ],
)
def test_date_shown_by_the_heading_wins_over_quite_another_stated_one(shown: str, expected: str) -> None:
    assert read(f"{STATED}<h1>Rye</h1>{shown}").published == expected


def test_day_in_the_address_is_that_of_the_place_when_the_stated_one_is_a_day_off() -> None:
    assert read(STATED, "https://example.com/2024/08/06/rye").published == "2024-08-06"
    assert read(STATED, "https://example.com/2023/08/06/rye").published == "2024-08-07T12:00:00Z"


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
def test_month_in_a_notice_is_no_date_of_publication(notice: str) -> None:
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


def test_the_number_of_a_volume_is_no_day() -> None:
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
