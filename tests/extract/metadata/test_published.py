from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extract import metadata, structured
from pagekeep.model import Metadata


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
