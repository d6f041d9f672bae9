"""A remote reader's answer as a page like any other."""

from __future__ import annotations

import pytest

from pagekeep.capture.remote_page import make_remote_page
from pagekeep.errors import ParseError
from pagekeep.markdown import write_document
from pagekeep.model import Fetched, Options, PageWarning

ANSWER = """Title: The keeper

URL Source: https://example.com/a

Published Time: Wed, 19 Mar 2025 10:30:00 GMT

Warning: Cached.

Markdown Content:
Ships [counted](https://example.com/a-long-address/with/many/words) and ![a chart](https://example.com/p.png) seen.
"""


def fetched(text: str) -> Fetched:
    return Fetched(
        "https://example.com/a", "https://example.com/a", 200, {}, text.encode(), content_type="text/x-reader"
    )


def test_what_the_reader_says_of_the_page_is_what_we_say() -> None:
    page = make_remote_page(fetched(ANSWER), Options())
    assert (page.metadata.title, page.url) == ("The keeper", "https://example.com/a")
    assert (page.metadata.published or "").startswith("2025-03-19")
    assert [link.url for link in page.links] == ["https://example.com/a-long-address/with/many/words"]
    assert [one.url for one in page.media] == ["https://example.com/p.png"]
    assert PageWarning("remote_reader", "the remote reader warns: Cached.") in page.trace.warnings


def test_words_are_counted_without_addresses() -> None:
    page = make_remote_page(fetched(ANSWER), Options())
    assert page.word_count == 4
    assert "word_count: 4" in write_document(page)


def test_an_answer_without_content_is_none() -> None:
    with pytest.raises(ParseError, match="Target is not found"):
        make_remote_page(fetched("Title: x\n\nWarning: Target is not found\n\nMarkdown Content:\n"), Options())
