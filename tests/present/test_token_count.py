"""Estimates of tokens."""

from __future__ import annotations

from pagekeep.present.token_count import estimate, trim


def test_a_character_of_another_script_counts_as_much_as_four_latin_ones() -> None:
    assert estimate("abcd" * 100) == 100
    assert estimate("灯台" * 50) == 100
    assert estimate("") == 0


def test_a_text_is_cut_between_lines() -> None:
    text = "first line here\nsecond line here\nthird line here\n"
    assert trim(text, estimate(text)) == text
    assert trim(text, 9) == "first line here\nsecond line here\n"
    assert trim("one very long line without any end", 3) == "one"
    assert trim(text, 0) == ""
