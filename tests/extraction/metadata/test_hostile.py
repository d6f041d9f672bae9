"""Whatever a page holds, reading its metadata raises nothing and gives text that can be written down."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.extraction.metadata import tags

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet=st.characters(exclude_categories=()), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["@type", "@id", "@graph", "author", "name", "headline", "datePublished", "image", "publisher",
                 "keywords", "articleSection", "itemListElement", "license", "logo", "item", "mainEntity", "url", "description"]
            ),
            inner | st.sampled_from(["Article", "BreadcrumbList", "WebSite", "Organization", "Person", "2024-05-03", "#a"]),
            max_size=6,
        )
    ),
    max_leaves=20,
)  # fmt: skip


def read_all(html: str) -> None:
    document = dom.parse(html)
    data = structured.read(document)
    about = metadata.read(document, data, "https://example.com/a")
    again = metadata.read(document, structured.read(document), "https://example.com/a")
    assert about == again
    structured.types(data)
    structured.article_body(data)
    values = [getattr(about, field.name) for field in fields(about) if field.name != "origins"]
    json.dumps([values, tags.choose(about, "", "example.com", "en")], ensure_ascii=False).encode("utf-8")


@given(JSON)
def test_any_json_is_survived(value: object) -> None:
    read_all(f'<script type="application/ld+json">{json.dumps(value)}</script><h1>T</h1>')


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=80))
def test_any_text_is_survived_everywhere(text: str) -> None:
    value = text.replace('"', "")
    read_all(
        f'<title>{text}</title><meta property="og:title" content="{value}"><meta name="author" content="{value}">'
        f'<meta name="date" content="{value}"><link rel="canonical" href="{value}">'
        f'<meta property="og:image" content="{value}"><meta name="keywords" content="{value}"><a rel="tag">{text}</a>'
        f'<link rel="license" href="{value}"><meta property="og:image:width" content="{value}">'
        f'<h1>{text}</h1><p>{text}</p><p>May 3, 2024</p><p class="byline">{text}</p><time datetime="{value}">{text}</time>'
    )


@pytest.mark.parametrize(
    "html",
    [
        "<div class=author>" * 50_000 + "x",
        "<div itemprop=name itemscope>" * 30_000 + "x",
        "<h1>" + "<b>x" * 50_000,
        "<time>2024" * 50_000,
        "".join(f"<meta name=a{number} content=b>" for number in range(50_000)),
        '<script type="application/ld+json">' + '\\"' * 500_000,
        "<title>" + " - " * 100_000,
        '<meta property="og:image" content="https://a.example/' + "logo-" * 400_000 + '">',
        "<h1>T</h1>" + "<p>Ann Lee</p><p>May 3, 2024</p>" * 50_000,
        "<title>T</title>" + "<h2>T" * 50_000,
        '<p itemprop=author class="' + "comment " * 100_000 + '">' + "<b itemprop=author>x" * 1_000,
        "<h1>T</h1><p>" + "by " * 500_000,
    ],
    ids=[
        "nested authors",
        "nested items",
        "nested heading",
        "many dates",
        "many metas",
        "broken strings",
        "separators",
        "long address",
        "many signatures",
        "nested lesser headings",
        "long class",
        "many bys",
    ],
)
def test_floods_are_survived(html: str) -> None:
    read_all(html)


def test_half_a_character_in_json_does_not_reach_the_metadata() -> None:
    half = "\\ud800"
    read_all(
        '<script type="application/ld+json">{"@type": "Article", "headline": "Rye%s", "author": "Ann%s Lee", '
        '"image": "https://example.com/%s.png", "keywords": "%srye, oats", "description": "%s"}</script>'
        % ((half,) * 5)
    )
