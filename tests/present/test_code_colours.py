"""Code in classes."""

from __future__ import annotations

from pagekeep.present.code_colours import CLASSES, LONGEST, highlighted


def test_known_languages_are_coloured() -> None:
    assert (
        highlighted("def f", "Python") == '<span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    )
    assert "k" in CLASSES


def test_everything_else_is_only_escaped() -> None:
    for language in ("", "text", "no-such-language", "../../etc"):
        assert highlighted("a < b\n", language) == "a &lt; b\n"
    assert "<span" not in highlighted("x = 1\n" * LONGEST, "python")


def test_newlines_stay_as_they_are() -> None:
    assert highlighted("\n\nx\n\n", "python").count("\n") == 4
