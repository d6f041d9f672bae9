"""Counting words in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.text import count_words, reading_time


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n\t ", 0),
        ("one", 1),
        ("one two\nthree", 3),
        ("it's well-known, isn't it?", 4),
        ("- * -- | ... _ #", 0),
        ("3.14 and 42", 3),
        ("naïve café", 2),
        ("слово за слово", 3),
        ("كلمة وكلمة", 2),
        ("한국어 단어", 2),
    ],
)
def test_words_are_what_stands_between_spaces_and_holds_a_letter_or_digit(text: str, words: int) -> None:
    assert count_words(text) == words


def test_ideographs_count_two_to_a_word() -> None:
    assert count_words("汉字" * 50) == 50


def test_japanese_kana_and_kanji_count_alike() -> None:
    assert count_words("漢字かなカナ" * 10) == 30


def test_thai_counts_without_spaces_between_words() -> None:
    text = "คนสีข้าวนับกระสอบ"
    assert count_words(text * 10) > 20
    assert count_words(text * 10) == pytest.approx(10 * count_words(text), rel=0.2)


def test_scripts_may_be_mixed() -> None:
    assert count_words("Python 是一种语言 yes") == 2 + 3


@given(st.text(), st.text())
def test_more_text_never_has_fewer_words(first: str, second: str) -> None:
    assert count_words(f"{first} {second}") >= count_words(first)


@given(st.text())
def test_there_are_never_more_words_than_characters(text: str) -> None:
    assert 0 <= count_words(text) <= len(text)


@pytest.mark.parametrize(
    ("words", "time"),
    [(0, "1 min"), (1, "1 min"), (200, "1 min"), (400, "2 min"), (1_600, "8 min"), (20_000, "100 min")],
)
def test_reading_takes_a_minute_for_two_hundred_words_and_at_least_one(words: int, time: str) -> None:
    assert reading_time(words) == time
