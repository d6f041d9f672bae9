from __future__ import annotations

import pytest

from pagekeep.extraction.metadata import tags
from pagekeep.model import Metadata


def test_own_keywords_come_before_categories_domain_and_text() -> None:
    about = Metadata(title="Bread at home", keywords=("Sourdough", "baking"), categories=("Recipes",))
    chosen = tags.choose(about, "bread and the baking of the sourdough or " * 9, "www.seriouseats.com", "en")
    assert chosen == ("sourdough", "baking", "recipes", "bread")


def test_at_most_five_and_no_tag_twice_in_another_case() -> None:
    about = Metadata(keywords=("AI", "ai", "Ai ", "b1", "c1", "d1", "e1", "f1"))
    assert tags.choose(about, "AI b1 c1 d1 e1 f1", "", None) == ("ai", "b1", "c1", "d1", "e1")


@pytest.mark.parametrize("keyword", ["best cheap shoes to buy now", "x", "2024", "Blog", "y" * 60])
def test_phrases_numbers_and_empty_sections_are_not_tags(keyword: str) -> None:
    assert tags.choose(Metadata(keywords=(keyword,)), "", "", None) == ()


def test_subdomain_has_the_tag_of_its_domain() -> None:
    assert tags.choose(Metadata(), "", "de.wikipedia.org", None) == ("encyclopedia",)
    assert tags.choose(Metadata(), "", "notwikipedia.org", None) == ()


def test_salient_terms_of_the_text_come_last_and_say_nothing_twice() -> None:
    about = Metadata(title="Bread from a brick oven", keywords=("Rye breads",))
    text = "rye bread and the brick oven or the kitchen " * 9
    assert tags.choose(about, text, "", "en") == ("rye breads", "brick oven")


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
def test_sections_that_name_a_form_are_not_tags(section: str) -> None:
    assert tags.choose(Metadata(categories=(section,)), "", "", None) == ()


def test_site_title_and_author_are_not_tags() -> None:
    about = Metadata(
        title="Good rye",
        site_name="Daily Bugle",
        author="Ann Lee",
        keywords=("daily bugle", "Good Rye!", "Ann Lee", "bread"),
    )
    assert tags.choose(about, "bugle bread " * 9, "www.bugle.example", "en") == ("bread",)


def test_chinese_keywords_are_apart_by_spaces_and_sentences_are_none() -> None:
    about = Metadata(keywords=("面包 黑麦 每天早上都烤一个新鲜面包",))
    assert tags.choose(about, "面包和黑麦", "", "zh") == ("面包", "黑麦")


@pytest.mark.parametrize(
    "keyword",
    ["null", "undefined", "None", "front-page", "Front page", "paragraph", "page type: article", "content_type", "locale: us",
     "prices (fares", "All categories", "harbour.jpg", "{{ tag }}", "a=b"],
)  # fmt: skip
def test_values_that_only_the_markup_has_are_not_suggested(keyword: str) -> None:
    assert tags.choose(Metadata(keywords=(keyword,), categories=(keyword,)), f"{keyword} " * 9, "", None) == ()


def test_keyword_that_the_page_does_not_use_is_not_suggested() -> None:
    about = Metadata(title="A lathe", keywords=("dvd", "conversion", "lathes", "wood turning"))
    assert tags.choose(about, "Wood is turned on a lathe.", "", None) == ("lathes", "wood turning")


def test_phrases_are_not_doubled() -> None:
    about = Metadata(keywords=("barbecue", "Barbecue charcoal", "franchise franchise", "message", "messaging"))
    text = "barbecue charcoal franchise message messaging"
    assert tags.choose(about, text, "", None) == ("barbecue", "franchise", "message")


def test_word_that_is_only_frequent_is_not_suggested() -> None:
    text = "The wheat is for the users of a selection, and the flour units of the system are for the wheat. " * 9
    assert tags.choose(Metadata(title="Wheat in the system"), text, "", "en") == ("wheat",)


def test_two_sections_at_most_are_suggested() -> None:
    about = Metadata(categories=("Garden", "Tools for trees", "Tech matters", "Saws"))
    assert tags.choose(about, "A tool for a tree", "", None) == ("tools for trees", "saws")
