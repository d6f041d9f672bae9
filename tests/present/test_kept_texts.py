"""Texts kept in memory."""

from __future__ import annotations

from pagekeep.present.kept_texts import KeptTexts


def test_texts_are_kept_by_all_they_were_made_of() -> None:
    kept = KeptTexts(100)
    kept.put("one", "a", "bc")
    assert kept.get("a", "bc") == "one"
    assert kept.get("ab", "c") is None
    kept.put("\ud800", "\ud800")
    assert kept.get("\ud800") == "?"


def test_those_not_used_for_longest_are_dropped() -> None:
    kept = KeptTexts(10)
    for name in "abc":
        kept.put(name * 3, name)
    assert kept.get("a") == "aaa"
    kept.put("dddd", "d")
    assert [kept.get(name) for name in "abcd"] == ["aaa", None, "ccc", "dddd"]
    kept.put("ccccc", "c")
    assert [kept.get(name) for name in "acd"] == [None, "ccccc", "dddd"]
    kept.put("x" * 11, "x")
    assert kept.get("x") is None
