"""Bookmarks as browsers read them."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.library.exports.run import format_bookmarks
from tests.library.exports.making import make_item


def test_a_page_is_a_link_with_dates_tags_and_description() -> None:
    item = make_item(3, "keeper", title='A <b> & "c"', tags=["sea, wide", "x"])
    item = replace(item, metadata=replace(item.metadata, description="One\ntwo"))
    text = "".join(format_bookmarks([item]))
    assert text.startswith("<!DOCTYPE NETSCAPE-Bookmark-file-1>")
    assert 'HREF="https://example.com/page/3?utm_source=mail" ADD_DATE="1735977787"' in text
    assert 'TOREAD="0" TAGS="sea wide,x">A &lt;b&gt; &amp; &quot;c&quot;</A>' in text
    assert "<DD>One two\n" in text
