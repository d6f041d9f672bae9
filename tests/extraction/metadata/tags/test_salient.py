from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.tags import find_terms


def test_words_are_whole_and_repeated_more_than_three_times() -> None:
    text = "rain said rain maid rain paid rain " + "cloud cloud cloud"
    assert find_terms(text, "", "en") == ["rain"]


def test_title_words_weigh_more() -> None:
    text = "garden. " * 4 + "tomato? " * 9
    assert find_terms(text, "The garden", "en") == ["garden", "tomato"]


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
        ("da", "derfor", "køkken"),
        ("no", "kanskje", "kjøkken"),
        ("fi", "kaikki", "keittiö"),
        ("cs", "protože", "kuchyně"),
        ("sk", "pretože", "kuchyňa"),
        ("tr", "çünkü", "mutfak"),
        ("uk", "наприклад", "кухня"),
        ("hu", "például", "konyha"),
        ("ro", "pentru", "bucătărie"),
        ("ca", "perquè", "cuina"),
        ("el", "επειδή", "κουζίνα"),
        ("id", "karena", "dapur"),
    ],
)
def test_common_words_of_the_language_are_not_terms(language: str, common: str, salient: str) -> None:
    assert find_terms(f"{common} {salient} " * 6, "", language) == [salient]


def test_unknown_language_trusts_only_the_title() -> None:
    assert find_terms("kuriuos namai " * 6, "Namai", "lt") == ["namai"]


def test_words_that_keep_together_are_one_term() -> None:
    text = "Sour dough again. " * 5 + "More of the flour. " * 6
    assert find_terms(text, "", "en") == ["sour dough", "flour"]


def test_plural_and_singular_are_one_term_in_the_form_used_more() -> None:
    assert find_terms("oven. " * 3 + "ovens. " * 5, "", "en") == ["ovens"]
    assert find_terms("oven. " * 5 + "ovens. " * 3, "", "en") == ["oven"]


def test_abbreviations_are_terms_unless_they_are_words_written_large() -> None:
    text = "DNS is old. " * 5 + "THE END. the end, the end. " * 5
    assert find_terms(text, "", "en") == ["dns"]


def test_japanese_runs_and_pieces_of_a_chinese_title_are_terms() -> None:
    assert find_terms("パンを焼く。" * 3 + "コーヒーを飲む。童話の本。" * 3, "童話", "ja")[:2] == ["童話", "コーヒー"]
    assert find_terms("烤面包的人每天烤黑麦面包。黑麦面包很好。" * 3, "黑麦面包的故事", "zh") == ["黑麦面包"]


def test_language_without_word_breaks_gives_no_terms() -> None:
    assert find_terms("ขนมปัง " * 9, "ขนมปัง", "th") == []


def test_equal_weights_keep_the_order_of_first_use() -> None:
    assert find_terms("zebra. the apple. the mango. so " * 5, "", "en") == ["zebra", "apple", "mango"]


@pytest.mark.parametrize("text", ["", "\ud800 " * 50, "a" * 100_000, "A1 " * 20_000, "面" * 50_000])
@pytest.mark.parametrize("language", ["en", "zh", "ja", None])
def test_any_text_gives_a_bounded_list(text: str, language: str | None) -> None:
    assert len(find_terms(text, "A title 面面面", language)) <= 12


def test_a_word_with_two_shorter_forms_in_the_text_is_not_an_error() -> None:
    terms = find_terms("The prince met the princes and the princess. " * 6, "The princess", "en")
    assert "princess" in terms
