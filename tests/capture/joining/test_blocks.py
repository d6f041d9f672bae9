"""The blocks of several pages, put together."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.capture.join_pages import join_blocks


def _join(*pages: str, title: str = "The mill") -> str:
    root, _ = join_blocks([dom.parse_fragment(page) for page in pages], title)
    return dom.inner_html(root)


def test_repeated_headers_are_kept_once() -> None:
    head = '<h1>The mill</h1><p>By Ada</p><figure><img src="https://x.example/a.png" alt=""></figure>'
    joined = _join(
        f"{head}<p>One.</p>", f"<div>{head}<p>Two.</p></div>", f"<h1>The mill (page 3)</h1>{head}<p>Three.</p>"
    )
    assert joined.count("<h1>") == joined.count("By Ada") == joined.count("<img") == 1
    assert joined.index("One.") < joined.index("Two.") < joined.index("Three.")


def test_note_at_the_end_of_every_page_is_kept_at_the_end() -> None:
    note = "<p>Ada writes about mills.</p><p>Follow her.</p>"
    joined = _join(f"<h1>The mill</h1><p>One.</p>{note}", f"<h1>The mill</h1><p>Two.</p>{note}", f"<p>Three.</p>{note}")
    assert joined.count("Ada writes") == joined.count("Follow her") == 1
    assert joined.index("Three.") < joined.index("Ada writes")


def test_text_that_is_repeated_within_a_page_stays() -> None:
    refrain = "<p>And the tide came in.</p>"
    body = "".join(f"<p>Verse {number}.</p>{refrain}" for number in range(12))
    assert _join(body, f"<p>Another.</p>{'<p>Line.</p>' * 9}{refrain}").count("tide came in") >= 12


def test_links_between_pages_are_dropped() -> None:
    joined = _join(
        '<p>One.</p><p><a href="/2">Next page</a></p><p>1 2 3</p>', "<p>Page 2 of 3</p><p>Two.</p><p>Print</p>"
    )
    assert joined == "<p>One.</p><p>Two.</p>"


def test_footnotes_are_numbered_through() -> None:
    page = (
        '<p>{0}<sup class="footnote-ref"><a href="#fn-1">1</a></sup>.</p>'
        '<section class="footnotes"><ol><li id="fn-1"><p>Note {0}.</p></li></ol></section>'
    )
    joined = _join(page.format("One"), page.format("Two"))
    assert joined.count("<section") == 1
    assert '<a href="#fn-2">2</a>' in joined
    assert '<li id="fn-2"><p>Note Two.</p></li>' in joined
