"""Where a page in a file is from."""

from __future__ import annotations

import pytest

from pagekeep.capture.files import page_in_file


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<!-- saved from url=(0023)https://e.example/a -->\n<p>x", "https://e.example/a"),
        ("<!--\n Page saved with SingleFile \n url: https://e.example/b \n--><p>x", "https://e.example/b"),
        ('<head><link rel="canonical" href="https://e.example/c"></head>', "https://e.example/c"),
        ('<head><meta property="og:url" content="https://e.example/d"></head>', "https://e.example/d"),
        ('<link rel=canonical href="javascript:alert(1)">', "https://file.invalid/a%20page%2F1.html"),
        ("<p>x", "https://file.invalid/a%20page%2F1.html"),
    ],
)
def test_the_address_is_found_in_the_file_or_made_of_its_name(body: str, expected: str) -> None:
    page = page_in_file(body.encode(), "a page/1.html")
    assert page.url == page.final_url == expected
    assert page.content_type == "text/html"


def test_markdown_and_text_are_kept_as_they_are() -> None:
    assert page_in_file(b"# A", "notes.MD").content_type == "text/markdown"
    assert page_in_file(b"A", "notes.txt").content_type == "text/plain"
