from __future__ import annotations

import pytest

from pagekeep.extraction.metadata import tags
from pagekeep.model import Metadata


def test_own_keywords_come_before_categories_domain_and_text() -> None:
    about = Metadata(title="Bread", keywords=("Sourdough", "baking"), categories=("Recipes",))
    chosen = tags.choose(about, "oven " * 9, "www.seriouseats.com", "en")
    assert chosen == ("sourdough", "baking", "recipes", "oven")


def test_at_most_five_and_no_tag_twice_in_another_case() -> None:
    about = Metadata(keywords=("AI", "ai", "Ai ", "b1", "c1", "d1", "e1", "f1"))
    assert tags.choose(about, "", "", None) == ("ai", "b1", "c1", "d1", "e1")


@pytest.mark.parametrize("keyword", ["best cheap shoes to buy now", "x", "2024", "Blog", "y" * 60])
def test_phrases_numbers_and_empty_sections_are_no_tags(keyword: str) -> None:
    assert tags.choose(Metadata(keywords=(keyword,)), "", "", None) == ()


def test_subdomain_has_the_tag_of_its_domain() -> None:
    assert tags.choose(Metadata(), "", "de.wikipedia.org", None) == ("encyclopedia",)
    assert tags.choose(Metadata(), "", "notwikipedia.org", None) == ()


def test_salient_terms_of_the_text_come_last_and_say_nothing_twice() -> None:
    about = Metadata(title="Bread", keywords=("Rye breads",))
    assert tags.choose(about, "bread and the oven or " * 9, "", "en") == ("rye breads", "oven")


@pytest.mark.parametrize(
    "section",
    [
        "News",
        "Resource Center",
        "Board index",
        "Search",
        "Uncategorized",
        "Nachrichten",
        "actualités",
        "新闻",
        "2024年",
    ],
)
def test_sections_that_name_a_form_are_no_tags(section: str) -> None:
    assert tags.choose(Metadata(categories=(section,)), "", "", None) == ()


def test_site_title_and_author_are_no_tags() -> None:
    about = Metadata(
        title="Good rye",
        site_name="Daily Bugle",
        author="Ann Lee",
        keywords=("daily bugle", "Good Rye!", "Ann Lee", "bread"),
    )
    assert tags.choose(about, "bugle " * 9, "www.bugle.example", "en") == ("bread",)


def test_chinese_keywords_are_apart_by_spaces_and_sentences_are_none() -> None:
    about = Metadata(keywords=("面包 黑麦 每天早上都烤一个新鲜面包",))
    assert tags.choose(about, "", "", "zh") == ("面包", "黑麦")
