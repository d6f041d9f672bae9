from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from pagekeep_lab.evaluation_report import MAX_CHARS, mark_differences
from pagekeep_lab.scores import score_words

LINES = st.lists(st.text("ab <&c'", max_size=12), max_size=6).map("\n".join)


def test_neighbouring_marked_words_share_one_mark() -> None:
    assert mark_differences("a new, blue door", "a door", "extra") == 'a <mark class="extra">new, blue</mark> door'


def test_shared_lines_claim_their_words_first() -> None:
    marked = mark_differences("menu home\n\nwelcome home", "welcome home", "extra")
    assert marked == '<mark class="extra">menu home</mark>\n\nwelcome home'


def test_markup_in_the_text_is_escaped() -> None:
    assert mark_differences("<b>&", "", "extra") == '&lt;<mark class="extra">b</mark>&gt;&amp;'


def test_long_texts_are_cut_and_say_so() -> None:
    shown = mark_differences("word\n" * MAX_CHARS, "", "extra")
    assert shown.endswith("\n[...]")
    assert shown.count("word") < MAX_CHARS


@given(LINES, LINES)
def test_as_many_words_are_marked_as_the_score_counts(text: str, other: str) -> None:
    marked = mark_differences(text, other, "extra")
    inside = " ".join(re.findall(r"<mark[^>]*>(.*?)</mark>", marked, re.S))
    assert len(re.findall(r"\w+", unescape(inside))) == score_words(text, other).extra
