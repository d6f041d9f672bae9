from __future__ import annotations

import pytest

from pagekeep.extract import tags
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


def test_salient_words_are_whole_and_repeated_more_than_three_times() -> None:
    text = "rain said rain maid rain paid rain " + "cloud cloud cloud"
    assert tags.choose(Metadata(), text, "", "en") == ("rain",)


def test_title_words_weigh_more() -> None:
    text = "garden " * 4 + "tomato " * 9
    assert tags.choose(Metadata(title="The garden"), text, "", "en") == ("garden", "tomato")


@pytest.mark.parametrize(
    ("language", "common", "salient"),
    [
        ("en", "because", "kitchen"),
        ("de", "zwischen", "küche"),
        ("fr", "toujours", "cuisine"),
        ("es", "entonces", "cocina"),
        ("it", "sempre", "cucina"),
        ("pt-br", "também", "cozinha"),
        ("nl", "tussen", "keuken"),
        ("sv", "eftersom", "köket"),
        ("pl", "ponieważ", "kuchnia"),
        ("ru", "потому", "кухня"),
    ],
)
def test_common_words_of_the_language_are_no_tags(language: str, common: str, salient: str) -> None:
    assert tags.choose(Metadata(), f"{common} {salient} " * 6, "", language) == (salient,)


def test_unknown_language_trusts_only_the_title() -> None:
    assert tags.choose(Metadata(title="Otthon"), "amelyek otthon " * 6, "", "hu") == ("otthon",)


def test_language_without_spaces_gives_no_salient_terms() -> None:
    assert tags.choose(Metadata(title="面包"), "面包师傅 " * 9, "", "zh") == ()


def test_equal_weights_keep_the_order_of_first_use() -> None:
    assert tags.choose(Metadata(), "zebra apple mango " * 5, "", "en") == ("zebra", "apple", "mango")
