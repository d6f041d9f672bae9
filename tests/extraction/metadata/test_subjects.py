from __future__ import annotations

import json

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input import structured
from pagekeep.model import Metadata


def read(html: str) -> Metadata:
    document = dom.parse(html)
    return metadata.read(document, structured.read(document), "https://example.com/a")


def test_categories_come_from_sections_breadcrumbs_and_links_once_each() -> None:
    crumbs = {
        "@type": "BreadcrumbList",
        "itemListElement": [{"name": "Home"}, {"item": {"name": "Food"}}, {"name": "Rye bread"}],
    }
    html = (
        '<meta property="article:section" content="Kitchen">'
        f'<script type="application/ld+json">{json.dumps(crumbs)}</script>'
        '<a rel="category tag">Baking</a><a rel="category tag">kitchen</a><a rel="tag">Rye</a>'
    )
    found = read(html)
    assert found.categories == ("Kitchen", "Food", "Baking")
    assert found.keywords == ("Rye",)


def test_trail_of_the_page_is_read_without_home_and_the_page_itself() -> None:
    html = '<nav class="breadcrumbs"><a>Home</a> › <a>Food</a> › <a>Rye bread</a></nav><h1>Rye bread</h1>'
    assert read(html).categories == ("Food",)


def test_page_marked_as_having_breadcrumbs_is_not_a_trail() -> None:
    html = '<body class="with-breadcrumbs">' + "".join(f"<a>Link {number}</a>" for number in range(30))
    assert read(html).categories == ()


def test_keywords_are_split_trimmed_and_deduplicated() -> None:
    html = (
        '<meta name="keywords" content=" Rye , #Oven;rye,, sourdough | Flour ">'
        '<meta property="article:tag" content="Crust">'
    )
    assert read(html).keywords == ("Crust", "Rye", "Oven", "sourdough", "Flour")


def test_keywords_are_bounded_in_number_and_length() -> None:
    many = ",".join(f"word{number}" for number in range(500))
    found = read(f'<meta name="keywords" content="{"x" * 100},{many}">').keywords
    assert len(found) == 20
    assert found[0] == "word0"


def test_odd_json_types_are_survived() -> None:
    data = {"@type": "Article", "keywords": [1, None, {"name": "Rye"}], "articleSection": {"name": 3}}
    assert read(f'<script type="application/ld+json">{json.dumps(data)}</script>').keywords == ("Rye",)


def test_origins_of_categories_and_keywords_are_named() -> None:
    found = read('<meta name="keywords" content="rye, bread"><a rel="category tag">Baking</a>')
    assert (found.origins["keywords"], found.origins["categories"]) == ("meta", "rel")
    assert "keywords" not in read("<h1>Rye</h1>").origins
