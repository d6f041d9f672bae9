"""Code in classes."""

from __future__ import annotations

import pytest
from pygments.lexers import get_lexer_by_name

from pagekeep.present import markdown_html
from pagekeep.present.markdown_html import CODE_CLASSES, LANGUAGES, MAX_CODE_CHARS, highlight_code


def test_known_languages_are_coloured() -> None:
    assert (
        highlight_code("def f", "Python")
        == '<span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    )
    assert "k" in CODE_CLASSES


def test_everything_else_is_only_escaped() -> None:
    for language in ("", "text", "no-such-language", "../../etc"):
        assert highlight_code("a < b\n", language) == "a &lt; b\n"
    assert "<span" not in highlight_code("x = 1\n" * MAX_CODE_CHARS, "python")


def test_newlines_stay_as_they_are() -> None:
    assert highlight_code("\n\nx\n\n", "python").count("\n") == 4


def test_a_language_outside_the_list_never_reaches_a_lexer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a lexer was looked up")

    monkeypatch.setattr(markdown_html, "get_lexer_by_name", fail)
    for language in ("agda", "androidbp", "amdgpu", "actionscript3", "brainfuck", "guess"):
        assert highlight_code("a < b\n", language) == "a &lt; b\n"
    assert highlight_code("x = 1\n" * MAX_CODE_CHARS, "python") == "x = 1\n" * MAX_CODE_CHARS


def test_every_language_in_the_list_has_a_lexer() -> None:
    for language in LANGUAGES:
        assert get_lexer_by_name(language)
