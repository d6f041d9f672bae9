"""Pages that were sent."""

from __future__ import annotations

import pytest

from pagekeep.capture.uploads import posted
from pagekeep.errors import InvalidProtocol, InvalidUrl

PAGE = "<html><head><title>The keeper</title></head><body><p>All of it.</p></body></html>"


def test_a_page_is_as_it_was_sent() -> None:
    fetched = posted("https://example.com/a", PAGE)
    assert (fetched.body.decode(), fetched.final_url, fetched.rendered) == (PAGE, "https://example.com/a", True)


def test_a_selection_stands_under_the_pages_own_head() -> None:
    body = posted("https://example.com/a", PAGE, selection="<p>A part.</p>").body.decode()
    assert "<title>The keeper</title>" in body
    assert "<p>A part.</p>" in body
    assert "All of it" not in body


def test_a_page_may_have_no_address_but_no_wrong_one() -> None:
    assert posted("", PAGE).final_url == ""
    with pytest.raises(InvalidUrl):
        posted("nowhere", PAGE)
    with pytest.raises(InvalidProtocol):
        posted("file:///etc/passwd", PAGE)
