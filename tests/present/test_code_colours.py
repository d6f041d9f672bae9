"""Code in classes."""

from __future__ import annotations

from pagekeep.present.code_colours import CODE_CLASSES, MAX_CHARS, highlight_code


def test_known_languages_are_coloured() -> None:
    assert (
        highlight_code("def f", "Python")
        == '<span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    )
    assert "k" in CODE_CLASSES


def test_everything_else_is_only_escaped() -> None:
    for language in ("", "text", "no-such-language", "../../etc"):
        assert highlight_code("a < b\n", language) == "a &lt; b\n"
    assert "<span" not in highlight_code("x = 1\n" * MAX_CHARS, "python")


def test_newlines_stay_as_they_are() -> None:
    assert highlight_code("\n\nx\n\n", "python").count("\n") == 4
