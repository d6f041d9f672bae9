from __future__ import annotations

import json

import pytest

from pagekeep import dom
from pagekeep.extraction.input import structured
from pagekeep.extraction.input.structured import Structured


def read(html: str) -> Structured:
    return structured.read(dom.parse(html))


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def test_graph_lists_and_main_entity_are_flattened_in_order() -> None:
    data = [
        {"@graph": [{"@type": "WebSite"}, {"@type": ["NewsArticle", "https://schema.org/Report"]}]},
        {"@type": "QAPage", "mainEntity": {"@type": "Question"}},
    ]
    assert structured.types(read(json_ld(json.dumps(data)))) == (
        "WebSite",
        "NewsArticle",
        "Report",
        "QAPage",
        "Question",
    )


@pytest.mark.parametrize(
    "text",
    [
        '//<![CDATA[\n{"@type": "Article"}\n//]]>',
        '/*<![CDATA[*/{"@type": "Article"}/*]]>*/',
        '<!-- {"@type": "Article"} -->',
        '{"@type": "Article", "headline": "two\nlines\tand a tab"}',
        '{"@type": "Article", "keywords": ["a", "b",],}',
        '{"@type": "Article"};',
        "{&quot;@type&quot;: &quot;Article&quot;}",
        r"""{"@type": "Article", "headline": "Ann\'s loaf"}""",
        '{"@type": "Article"} {"@type": "Person"}',
        '{"@type": "Article"}}',
        '\ufeff {"@type": "Article"}',
    ],
)
def test_common_faults_of_json_are_repaired(text: str) -> None:
    assert structured.types(read(json_ld(text))) == ("Article",)


def test_repair_leaves_commas_inside_strings_alone() -> None:
    found = read(json_ld('{"@type": "Article", "headline": "a,] and ,}",}'))
    assert found.json_ld[0]["headline"] == "a,] and ,}"


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"@type": ' + "9" * 6000 + "}", '"just text"', "null", '"' + '\\"' * 9000]
)
def test_hopeless_json_is_left_out_and_the_rest_is_read(text: str) -> None:
    assert structured.types(read(json_ld(text) + json_ld('{"@type": "Recipe"}'))) == ("Recipe",)


def test_number_of_objects_is_bounded() -> None:
    many = json.dumps([{"@type": f"T{number}"} for number in range(5000)])
    assert len(read(json_ld(many)).json_ld) == 300


def test_meta_is_sorted_by_vocabulary_and_the_first_value_wins() -> None:
    found = read(
        '<meta property="og:title" content="One"><meta property="OG:Title" content="Two">'
        '<meta name="og:type" content="article"><meta property="article:tag" content="x">'
        '<meta property="article:tag" content="y">'
        '<meta name="twitter:card" content="summary"><meta name="Author" content="Ann"><meta name="empty" content=" ">'
    )
    assert found.opengraph == {"og:title": "One", "og:type": "article", "article:tag": "x"}
    assert found.twitter == {"twitter:card": "summary"}
    assert found.meta == {"author": "Ann"}
    assert found.repeated["article:tag"] == ("x", "y")


def test_meta_with_value_instead_of_content_and_with_several_properties_is_read() -> None:
    found = read('<meta name="author" value="Ann"><meta property="og:title  dc:title" content="One">')
    assert found.meta == {"author": "Ann", "dc:title": "One"}
    assert found.opengraph == {"og:title": "One"}


def test_link_relations_keep_every_target() -> None:
    found = read(
        '<link rel="shortcut icon" href="/a.ico"><link rel="icon" href="/b.png"><link rel="canonical" href="/c">'
    )
    assert found.links["icon"] == ("/a.ico", "/b.png")
    assert found.links["canonical"] == ("/c",)


def test_microdata_of_comments_and_breadcrumbs_is_not_the_pages_own() -> None:
    found = read(
        '<div itemscope itemtype="https://schema.org/BlogPosting"><h1 itemprop="headline">Head</h1>'
        '<span itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ann Lee</b></span>'
        '<meta itemprop="datePublished" content="2024-03-05">'
        '<div itemprop="comment" itemscope itemtype="https://schema.org/Comment">'
        '<i itemprop="author">Troll</i></div></div>'
        '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="name">Home</li></ol>'
    )
    assert found.item_types == ("BlogPosting", "Person", "Comment", "BreadcrumbList")
    assert found.properties["author"] == ("Ann Lee",)
    assert found.properties["datePublished"] == ("2024-03-05",)
    assert "name" not in found.properties


def test_longest_body_text_is_the_article_body() -> None:
    found = read(json_ld('[{"@type":"Article","articleBody":"short"},{"@type":"Question","text":" a longer text "}]'))
    assert structured.article_body(found) == "a longer text"
    assert structured.article_body(read("<p>x")) is None


def test_short_text_parts_blocks_but_not_letters() -> None:
    heading = dom.first(dom.parse("<h1>Wh<em>at</em> is<br>this<script>no()</script><div>all</div>about</h1>"), "h1")
    assert heading is not None
    assert structured.short_text(heading) == "What is this all about"


def test_short_text_does_not_read_a_large_element_to_its_end() -> None:
    body = dom.first(dom.parse("<p>" + "<b>word </b>" * 100_000), "body")
    assert body is not None
    assert len(structured.short_text(body, 100)) < 500


def test_properties_are_those_of_one_item() -> None:
    found = read(
        '<div itemscope itemtype="https://schema.org/Article"><b itemprop="author">Ann</b><b itemprop="author">Bo</b></div>'
        '<div itemscope itemtype="https://schema.org/Review"><b itemprop="author">Cy</b></div>'
    )
    assert found.properties["author"] == ("Ann", "Bo")


def test_property_among_comments_is_not_the_pages() -> None:
    found = read(
        '<body class="has-comments"><div itemscope itemtype="https://schema.org/Article"><b itemprop="author">Ann</b>'
        '<ol class="comment-list"><li itemprop="author">Bo</li></ol></div>'
    )
    assert found.properties["author"] == ("Ann",)
