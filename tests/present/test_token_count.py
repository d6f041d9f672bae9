"""Estimates of tokens."""

from __future__ import annotations

from pagekeep.present.sections import count_tokens, trim_to_tokens


def test_a_character_of_another_script_counts_as_much_as_four_latin_ones() -> None:
    assert count_tokens("abcd" * 100) == 100
    assert count_tokens("灯台" * 50) == 100
    assert count_tokens("") == 0
    assert count_tokens("灯台" * 50_000 + "abcd" * 10) == 100_010  # counted in parts


def test_a_text_is_cut_between_lines() -> None:
    text = "first line here\nsecond line here\nthird line here\n"
    assert trim_to_tokens(text, count_tokens(text)) == text
    assert trim_to_tokens(text, 9) == "first line here\nsecond line here\n"
    assert trim_to_tokens("one very long line without any end", 3) == "one"
    assert trim_to_tokens(text, 0) == ""
