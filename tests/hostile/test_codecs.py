"""Encodings that pages name, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from tests.hostile import codecs


def test_codecs_of_python_that_a_page_names_change_no_text() -> None:
    assert codecs.run(["punycode", "utf-7", "unicode_escape", "x" * 8_000, "utf-8,punycode"]) == []
