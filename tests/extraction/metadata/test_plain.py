from __future__ import annotations

from pagekeep.extraction.input.structured import one_line, squeeze, tidy


def test_markup_entities_and_invisible_characters_are_gone() -> None:
    assert one_line("  A&amp;amp;B <i>and</i>\n\u200bC\ud800\x00 ") == "A&B and C"


def test_text_of_the_page_keeps_what_looks_like_markup() -> None:
    assert tidy("The <table> element") == "The <table> element"


def test_what_is_not_text_is_empty() -> None:
    assert one_line(None) == ""
    assert one_line(["x"]) == ""


def test_long_value_is_cut_at_a_word() -> None:
    assert one_line("alpha beta gamma", 12) == "alpha beta"


def test_spacing_and_punctuation_do_not_matter_when_comparing() -> None:
    assert squeeze("The Daily-Bugle.") == squeeze("the daily bugle")
