"""Pages that the user already has: sent HTML and files."""

from __future__ import annotations

import asyncio

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.uploads import page_in_file, sent_page, sent_selection
from pagekeep.config import Settings
from pagekeep.errors import InvalidProtocol, InvalidUrl
from pagekeep.model import Fetched

PAGE = "<html><head><title>The keeper</title></head><body><p>All of it.</p></body></html>"


def in_file(body: bytes, name: str) -> Fetched:
    return asyncio.run(page_in_file(body, name, Retrieval(Settings())))


def test_a_page_is_as_it_was_sent() -> None:
    fetched = sent_page("https://example.com/a", PAGE)
    assert (fetched.body.decode(), fetched.final_url, fetched.rendered) == (PAGE, "https://example.com/a", True)


def test_a_selection_comes_under_the_pages_own_head() -> None:
    page = sent_page("https://example.com/a", PAGE)
    body = asyncio.run(sent_selection(page, "<p>A part.</p>", Retrieval(Settings()))).body.decode()
    assert "<title>The keeper</title>" in body
    assert "<p>A part.</p>" in body
    assert "All of it" not in body


def test_a_page_may_have_no_address_but_no_wrong_one() -> None:
    assert sent_page("", PAGE).final_url == ""
    with pytest.raises(InvalidUrl):
        sent_page("nowhere", PAGE)
    with pytest.raises(InvalidProtocol):
        sent_page("file:///etc/passwd", PAGE)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<!-- saved from url=(0023)https://e.example/a -->\n<p>x", "https://e.example/a"),
        ("<!--\n Page saved with SingleFile \n url: https://e.example/b \n--><p>x", "https://e.example/b"),
        ('<head><link rel="canonical" href="https://e.example/c"></head>', "https://e.example/c"),
        ('<head><meta property="og:url" content="https://e.example/d"></head>', "https://e.example/d"),
        ('<link rel=canonical href="javascript:alert(1)">', "https://file.invalid/daceb36d9581/a%20page%2F1.html"),
        ("<p>x", "https://file.invalid/bebcbe06a9c5/a%20page%2F1.html"),
    ],
)
def test_the_address_is_found_in_the_file_or_made_of_its_name(body: str, expected: str) -> None:
    page = in_file(body.encode(), "a page/1.html")
    assert page.url == page.final_url == expected
    assert page.content_type == "text/html"


def test_files_of_the_same_name_are_different_pages_and_a_file_saved_again_is_the_same() -> None:
    def address(body: bytes, place: str = "") -> str:
        return asyncio.run(page_in_file(body, "page.html", Retrieval(Settings()), place=place)).url

    assert address(b"<p>x", "/a/page.html") != address(b"<p>x", "/b/page.html")
    assert address(b"<p>x", "/a/page.html") == address(b"<p>changed", "/a/page.html")
    assert address(b"<p>x") == address(b"<p>x") != address(b"<p>y")


def test_markdown_and_text_are_kept_as_they_are() -> None:
    assert in_file(b"# A", "notes.MD").content_type == "text/markdown"
    assert in_file(b"A", "notes.txt").content_type == "text/plain"
