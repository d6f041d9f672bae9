"""Counting and normalising words in any script, and the similarity of two texts."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.text import (
    compile_lazily,
    count_words,
    normalise_tokens,
    normalise_url,
    overlap,
    reading_time,
    score_words,
    similarity,
)

REFERENCE = Path(__file__).parents[2] / "shared" / "corpora" / "score.py"
TEXTS = st.text("ab c\nÄ_é9'’中", max_size=60)


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


def test_f1_counts_words_as_multisets() -> None:
    score = score_words("the the cat", "the cat sat")
    assert (score.precision, score.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (score.missing, score.extra) == (1, 1)


@pytest.mark.parametrize(
    ("predicted", "reference", "f1"),
    [("", "", 1.0), ("word", "", 0.0), ("", "word", 0.0), ("a", "b", 0.0), ("Word.", "word", 1.0), ("b a", "a b", 1.0)],
)
def test_f1_at_the_edges(predicted: str, reference: str, f1: float) -> None:
    assert score_words(predicted, reference).f1 == f1


def test_empty_result_misses_every_word() -> None:
    assert score_words("", "a b c").missing == 3
    assert score_words("a b", "").extra == 2


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference scorer is not here")
@given(TEXTS, TEXTS)
def test_f1_equals_the_reference_scorer_exactly(predicted: str, reference: str) -> None:
    spec = importlib.util.spec_from_file_location("score", REFERENCE)
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    assert tuple(score_words(predicted, reference)[:3]) == scorer.word_f1(predicted, reference)


@given(TEXTS, TEXTS)
def test_similarity_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert 0.0 <= similarity(one, other) <= 1.0


def test_similarity_ignores_case_quotes_and_spacing() -> None:
    assert similarity("It’s  “Fine”—really", "it's fine really") == 1.0


def test_similarity_notices_order_where_f1_does_not() -> None:
    assert score_words("d c b a", "a b c d").f1 == 1.0
    assert similarity("d c b a", "a b c d") == 0.0


def test_similarity_of_long_texts_falls_with_what_is_missing() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    half = " ".join(text.split()[:500])
    assert similarity(half, text) == pytest.approx(2 / 3, abs=0.01)


def test_text_without_spaces_is_compared_sign_by_sign() -> None:
    assert normalise_tokens("東京へ") == ["東", "京", "へ"]
    assert similarity("東京へ行く人", "東京へ行く犬") > 0.5


def test_addresses_agree_without_scheme_fragment_and_last_slash() -> None:
    found = overlap(["http://www.example.com/a/#top", "https://example.com/c"], ["https://example.com/a", "/b"])
    assert found == (0.5, 1, 1)


def test_fragments_and_data_urls_are_not_addresses() -> None:
    assert overlap(["#note", "data:image/png;base64,AA"], ["https://example.com/a"]) == (0.0, 1, 0)


def test_coverage_is_unknown_when_the_reference_is_empty() -> None:
    assert overlap(["https://example.com/a"], []) == (None, 0, 1)


def test_a_broken_address_stays_as_it_is() -> None:
    assert normalise_url("http://[broken") == "http://[broken"


def test_lazy_patterns_work_as_others_do() -> None:
    lazy, plain = compile_lazily(r"(?P<word>k\w+)", re.I), re.compile(r"(?P<word>k\w+)", re.I)
    text = "Kelp and krill"
    assert lazy.sub("x", text) == plain.sub("x", text)
    assert [match["word"] for match in lazy.finditer(text)] == ["Kelp", "krill"]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (plain.pattern, plain.flags, plain.groups)
    assert compile_lazily(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_lazy_patterns_are_compiled_when_they_are_used() -> None:
    wrong = compile_lazily("(")
    with pytest.raises(re.error):
        wrong.search("")
