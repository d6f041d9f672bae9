from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.store.query import MAX_WORD_CHARS, words
from pagekeep.text import fold


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World_2!", "hello world 2"),
        ("don't stop-me", "don t stop me"),
        ("Čapek, cafe\u0301, STRASSE, Straße", "capek cafe strasse strasse"),
        ("東京へ行くgo", "東 京 へ 行 く go"),
        ("ガラス ｶﾞﾗｽ か\u3099", "ガ ラ ス ガ ラ ス が"),
        ("हिन्दी। दिल्ली", "हिन्दी दिल्ली"),
        ("كِتَاب كتـاب", "كتاب كتاب"),
        ("ﬁne ①②", "fine 12"),
        ("Ἀθήνα İstanbul", "αθηνα istanbul"),
        ("C++ & 🙂 …", "c"),
    ],
)
def test_text_becomes_folded_words(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


@given(st.text(alphabet=st.characters(), max_size=200))
def test_words_have_no_space_quote_or_sign(text: str) -> None:
    for word in words(text):
        assert word
        assert len(word) <= MAX_WORD_CHARS
        assert not set(word) & set(" \t\n\"'*%_\\:&|!()<>¶\x00")


@given(st.text(max_size=100))
def test_folding_twice_is_folding_once_for_search(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


def test_folding_keeps_the_length_of_common_text() -> None:
    assert fold("Žluťoučký kůň") == "zlutoucky kun"
