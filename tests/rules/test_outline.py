"""YAML as an outline with lines; what is refused is in tests/hostile/test_rules.py."""

from __future__ import annotations

import pytest

from pagekeep.rules.outline import Entries, Items, OutlineError, Value, outline


def test_lists_mappings_and_values_keep_their_lines() -> None:
    assert outline("- a: 1\n  b: 'x'\n- [y]\n") == Items(
        1,
        [
            Entries(1, [(Value(1, "a", False), Value(1, "1", False)), (Value(2, "b", False), Value(2, "x", True))]),
            Items(3, [Value(3, "y", False)]),
        ],
    )


def test_doubles_are_kept_for_the_reader_to_tell() -> None:
    tree = outline("a: 1\na: 2")
    assert isinstance(tree, Entries)
    assert [value for _, value in tree.pairs] == [Value(1, "1", False), Value(2, "2", False)]


@pytest.mark.parametrize("data", ["", b"", b"\xef\xbb\xbf# only a comment\n"])
def test_an_empty_file_has_no_outline(data: bytes | str) -> None:
    assert outline(data) is None


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"- a\n- \xff", 2), ("- a\n- 'b", 2), ("- a\n- &x b", 2), ("- a\n\n---\n- b", 3), ("a\nb: c", 2)],
)
def test_errors_name_the_line(data: bytes | str, line: int) -> None:
    with pytest.raises(OutlineError) as caught:
        outline(data)
    assert caught.value.line == line


def test_selector_that_begins_with_a_star_is_reported_to_be_quoted() -> None:
    with pytest.raises(OutlineError) as caught:
        outline("remove: * > p")
    assert "quotes" in caught.value.suggestion
