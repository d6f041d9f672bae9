"""What changed between two readings."""

from __future__ import annotations

from contextlib import suppress
from difflib import unified_diff
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.present import diff as module
from pagekeep.present.diff import difference


def test_equal_readings_have_no_difference() -> None:
    assert list(difference("a\nb\n", "a\nb\n")) == []


def test_lines_that_went_and_came_are_marked() -> None:
    lines = list(difference("one\ntwo\nthree\n", "one\n2\nthree\n"))
    assert lines == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]


def test_a_line_of_dashes_is_content_like_any_other() -> None:
    assert list(difference("---\na\n", "---\nb\n"))[1:] == [" ---", "-a", "+b"]


PAIRS = [
    ("a\nb\n", "b\na\n"),
    ("", "a\nb"),
    ("a\nb", ""),
    ("\n".join("abcdefghijklmnop"), "\n".join("abXdefghiklmnoZp")),
    ("\n".join(map(str, range(300))), "\n".join(str(number) for number in range(300) if number % 7)),
    (
        "\n\n".join(map(str, range(300))),
        "\n\n".join(f"{number}!" if number % 50 == 1 else str(number) for number in range(300)),
    ),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_the_format_is_that_of_a_unified_diff(before: str, after: str) -> None:
    expected = list(unified_diff(before.splitlines(), after.splitlines(), n=module.CONTEXT_LINES, lineterm=""))[2:]
    assert list(difference(before, after)) == expected


@given(*[st.lists(st.sampled_from("abcdefgh"), max_size=120)] * 2)
def test_matched_lines_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    matches = module.match_lines(old, new)
    assert all(old[old_line] == new[new_line] for old_line, new_line in matches)
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(matches))


def test_a_long_page_with_some_changes_is_compared() -> None:
    lines = [f"line {number}" for number in range(30_000)]
    changed = [line + "!" if number % 3_000 == 1 else line for number, line in enumerate(lines)]
    shown = list(difference("\n".join(lines), "\n".join(changed)))
    assert sum(line.startswith("+") for line in shown) == 10


LINES = range(3_000)
HOSTILE = {
    "every second line changed": (
        [f"{n // 2}" if n % 2 else "a" for n in LINES],
        [f"{n // 2}" if n % 2 else "b" for n in LINES],
    ),
    "lines that repeat": ([str(n % 100) for n in LINES], [str(n * 7 % 100) for n in LINES]),
    "equal lines": (["a"] * 3_000, ["a", "b"] * 1_500),
    "reversed": ([str(n) for n in LINES], [str(n) for n in reversed(LINES)]),
    "list items": ([f"- {n % 60}" for n in LINES], [f"- {n % 61}" for n in LINES]),
}


class CountedLine(str):
    """A line that counts how often any line is compared or hashed."""

    __slots__ = ()
    count = 0

    def __eq__(self, other: object) -> bool:
        CountedLine.count += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        CountedLine.count += 1
        return str.__hash__(self)


@pytest.mark.parametrize("shape", HOSTILE)
def test_the_work_of_a_comparison_is_bounded(shape: str) -> None:
    old, new = ([CountedLine(line) for line in side] for side in HOSTILE[shape])
    CountedLine.count = 0
    with suppress(module.TooDifferent):
        module.match_lines(old, new)
    assert CountedLine.count < 60 * (len(old) + len(new))


def test_texts_that_are_too_different_are_only_counted() -> None:
    (line,) = difference("a\n" * 20_000, "b\n" * 10_000)
    assert line == (
        "@@ Too different to compare line by line: 20000 lines before, 10000 after; 20000 removed, 10000 added @@"
    )


def test_a_comparison_stops_at_the_limit_of_work() -> None:
    old, new = HOSTILE["every second line changed"]
    with pytest.raises(module.TooDifferent):
        module.match_lines(old, new, max_work=1_000)
