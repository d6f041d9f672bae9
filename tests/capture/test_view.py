"""Pages as callers want to see them."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep.capture.extract import ViewOptions
from pagekeep.capture.uploads import sent_page
from pagekeep.capture.view import view_page
from pagekeep.errors import ParseError, RuleError
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook
from tests.capture.documents.samples import PDF, TEXT
from tests.site.fixtures import SENTENCE

PAGE = (
    "<title>The keeper</title><nav><a href='/home'>Home</a></nav><article><h1>The keeper</h1>"
    f"{f'<p>{SENTENCE * 3}</p>' * 5}<div class='outer'><p>Outside.</p><div class='inner'><p>Inside.</p></div></div></article>"
)


def seen(view: ViewOptions, page: str = PAGE) -> Page:
    return view_page(sent_page("https://example.com/a", page), Options(), Rulebook(), view)


def test_parts_within_parts_come_once() -> None:
    assert seen(ViewOptions(only=(".outer", ".inner"))).markdown == "Outside.\n\nInside.\n"


def test_the_whole_page_has_what_the_content_has_not() -> None:
    whole = seen(ViewOptions(whole=True))
    assert "[Home](https://example.com/home)" in whole.markdown
    assert "Inside." in whole.markdown
    assert whole.word_count > seen(ViewOptions(without=("nav",))).word_count


def test_the_document_and_the_counts_are_of_what_is_shown() -> None:
    page = seen(ViewOptions(only=(".inner",)))
    assert page.word_count == 1
    assert "word_count: 1\n" in page.document
    assert page.document.endswith("\n\nInside.\n")


def test_nothing_found_is_an_error_and_so_is_a_bad_selector() -> None:
    with pytest.raises(ParseError, match="No element of the page matches"):
        seen(ViewOptions(only=(".missing",)))
    with pytest.raises(RuleError):
        ViewOptions(without=("p[",))


def test_the_page_itself_cannot_be_removed() -> None:
    assert "kettle" in seen(ViewOptions(without=("html", "body"))).markdown


def test_a_deep_page_does_no_harm() -> None:
    assert "end" in seen(ViewOptions(whole=True), "<div>" * 3000 + "end").text


def test_a_view_of_a_document_is_a_view_of_its_clean_html() -> None:
    pdf = Fetched(
        "https://example.com/h.pdf", "https://example.com/h.pdf", 200, {}, PDF, content_type="application/pdf"
    )

    def view(**how: Any) -> str:
        return view_page(pdf, Options(), Rulebook(), ViewOptions(**how)).markdown

    assert view(whole=True) == view(links="none", images="none") == TEXT
    assert view(only=("h1",)) == "# The old harbour\n"
    assert view(without=("h1",)) == TEXT.partition("\n\n")[2]
    with pytest.raises(ParseError, match="No element"):
        view(only=(".missing",))
