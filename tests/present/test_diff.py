"""What changed between two readings."""

from __future__ import annotations

from pagekeep.present import diff as module
from pagekeep.present.diff import difference


def test_equal_readings_have_no_difference() -> None:
    assert list(difference("a\nb\n", "a\nb\n")) == []


def test_lines_that_went_and_came_are_marked() -> None:
    lines = list(difference("one\ntwo\nthree\n", "one\n2\nthree\n"))
    assert lines == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]


def test_a_line_of_dashes_is_content_like_any_other() -> None:
    assert list(difference("---\na\n", "---\nb\n"))[1:] == [" ---", "-a", "+b"]


def test_a_huge_reading_is_told_as_a_whole() -> None:
    (line,) = difference("a\n" * module.MAX_LINES, "b\n" * module.MAX_LINES)
    assert "too many" in line
