"""Text that is not HTML, kept as it is."""

from __future__ import annotations

import pytest

from pagekeep.capture.plain_text import keep_text
from pagekeep.model import Metadata, Options

URL = "https://mill.example/notes.md"


def test_the_text_stays_as_it_is_but_for_line_ends() -> None:
    page = keep_text(b"\n# The *mill*\r\n\r\n1 < 2 & <b>so</b> on\r\n", URL, Options())
    assert page.markdown == "# The *mill*\n\n1 < 2 & <b>so</b> on\n"
    assert page.text == page.markdown
    assert page.html == "<pre><code># The *mill*\n\n1 &lt; 2 &amp; &lt;b&gt;so&lt;/b&gt; on\n</code></pre>"
    assert (page.strategy, page.quality.level, page.document) == ("verbatim", "simplified", "")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The mill #\n\nWater.", "The mill"),
        ("---\n\n=====\nTides\n", "Tides"),
        ("...\n", None),
        ("x" * 300, "x" * 200),
    ],
)
def test_the_title_is_the_first_line_with_words(text: str, title: str | None) -> None:
    assert keep_text(text, URL, Options()).metadata.title == title


def test_known_metadata_and_words_come_first() -> None:
    page = keep_text(
        "[The mill](https://mill.example/)", URL, Options(), about=Metadata(title="Known"), plain="The mill"
    )
    assert (page.metadata.title, page.text, page.word_count) == ("Known", "The mill", 2)
