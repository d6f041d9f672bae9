"""What the pages of a site have in common."""

from __future__ import annotations

import pytest

from pagekeep.extraction.site import MIN_PAGES, fingerprint, learn, make_shingles, split_words

PITCH = "Tell a friend about these pages and come back on Friday."


def texts(count: int, shared: str = PITCH) -> list[frozenset[int]]:
    return [fingerprint(f"Night{'x' * number} of the lamp that nobody lit.\n\n{shared}") for number in range(count)]


def test_text_on_eight_pages_is_shared() -> None:
    knowledge = learn(texts(MIN_PAGES))
    assert knowledge.pages == MIN_PAGES
    assert set(make_shingles(split_words(PITCH))) <= knowledge.repeated


def test_seven_pages_are_too_few() -> None:
    assert not learn(texts(MIN_PAGES - 1)).repeated


def test_a_quotation_on_a_few_of_many_pages_is_not_shared() -> None:
    others = [fingerprint(f"Word{'y' * number} alone and nothing else here.") for number in range(40)]
    assert not set(make_shingles(split_words(PITCH))) & learn([*texts(MIN_PAGES), *others]).repeated


def test_pages_with_the_same_text_count_once() -> None:
    assert not learn([fingerprint(PITCH)] * 20).repeated


def test_the_order_of_the_pages_does_not_matter() -> None:
    pages = texts(12)
    assert learn(pages) == learn(reversed(pages))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Read by 12 people on 3 May", "Read by 940 people on 17 May"), ("TELL a friend today", "tell a friend, today!")],
)
def test_numbers_case_and_punctuation_make_no_difference(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_scripts_without_spaces_are_cut_by_characters() -> None:
    assert len(fingerprint("灯台の光は夜に見える")) == 7


def test_an_empty_page_has_no_shingles() -> None:
    assert fingerprint("\n \n") == frozenset()
