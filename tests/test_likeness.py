from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.text import (
    address,
    canonical,
    overlap,
    score_words,
    similarity,
)

REFERENCE = Path(__file__).parents[2] / "shared" / "corpora" / "score.py"
TEXTS = st.text("ab c\nÄ_é9'’中", max_size=60)


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
    assert canonical("東京へ") == ["東", "京", "へ"]
    assert similarity("東京へ行く人", "東京へ行く犬") > 0.5


def test_addresses_agree_without_scheme_fragment_and_last_slash() -> None:
    found = overlap(["http://www.example.com/a/#top", "https://example.com/c"], ["https://example.com/a", "/b"])
    assert found == (0.5, 1, 1)


def test_fragments_and_data_urls_are_no_addresses() -> None:
    assert overlap(["#note", "data:image/png;base64,AA"], ["https://example.com/a"]) == (0.0, 1, 0)


def test_coverage_is_unknown_when_the_reference_is_empty() -> None:
    assert overlap(["https://example.com/a"], []) == (None, 0, 1)


def test_a_broken_address_stays_as_it_is() -> None:
    assert address("http://[broken") == "http://[broken"
