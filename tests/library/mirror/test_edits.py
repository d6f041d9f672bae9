"""Tags changed in two places."""

from __future__ import annotations

import pytest

from pagekeep.library.mirror.changes import merge_tags


@pytest.mark.parametrize(
    ("now", "before", "after", "merged"),
    [
        (["a", "b"], ["a", "b"], ["a", "b"], ["a", "b"]),
        (["a", "b"], ["a", "b"], ["b"], ["b"]),
        (["a", "b"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c"]),
        (["a", "x"], ["a", "b"], ["a", "b", "c"], ["a", "x", "c"]),
        (["a", "C"], ["a"], ["a", "c"], ["a", "C"]),
        (["a"], ["a"], ["#a b", "a", "#a b"], ["a", "a b"]),
        ([], ["a"], ["a"], []),
    ],
)
def test_each_side_keeps_what_it_did(now: list[str], before: list[str], after: list[str], merged: list[str]) -> None:
    assert list(merge_tags(now, before, after, "pagekeep")) == merged


def test_a_tag_is_known_by_the_form_it_has_in_obsidian() -> None:
    assert list(merge_tags(["solar panels", "sea"], ["solar-panels", "sea"], ["sea"], "obsidian")) == ["sea"]
    assert list(merge_tags(["solar panels"], ["solar-panels"], ["solar-panels", "tide"], "obsidian")) == [
        "solar panels",
        "tide",
    ]
