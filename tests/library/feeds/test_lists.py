"""OPML as other readers write it, with nested folders, both ways."""

from __future__ import annotations

import pytest

from pagekeep.errors import UnsupportedContent
from pagekeep.library.feeds import subscriptions
from pagekeep.library.feeds.parse.opml import read_opml
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import FeedSettings
from pagekeep.store import Store
from tests.library.feeds.conftest import Run

NESTED = """<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head><title>Mine</title></head><body>
<outline text="News"><outline text="Sea &amp; air" title="Sea &amp; air">
  <outline type="rss" text="Harbour" title="Harbour" xmlUrl="https://example.com/feed?a=1&amp;b=2" htmlUrl="https://example.com/"/>
</outline><outline type="rss" text="Port" xmlUrl="http://port.example/rss"/></outline>
<outline type="rss" title="No text" xmlUrl="feed://plain.example/rss"/>
<outline text="Empty folder"/><outline type="link" text="x" url="https://example.com/page"/>
<outline type="rss" text="Again" xmlUrl="http://port.example/rss"/>
<outline type="rss" text="Bad" xmlUrl="javascript:alert(1)"/></body></opml>"""


def test_nested_folders_are_read() -> None:
    assert [(one.address, one.title, one.folder) for one in read_opml(NESTED.encode())] == [
        ("https://example.com/feed?a=1&b=2", "Harbour", "News/Sea & air"),
        ("http://port.example/rss", "Port", "News"),
        ("https://plain.example/rss", "No text", ""),
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("&amp;b", "&b"),  # not well-formed
        lambda text: text.replace("</opml>", ""),
        lambda text: text.replace("xmlUrl", "xmlurl"),
        lambda text: text.replace('<?xml version="1.0" encoding="UTF-8"?>', "\n\n"),
        lambda text: text.replace("UTF-8", "utf-16").encode("utf-16"),
    ],
)
def test_lists_with_faults_are_read(change) -> None:  # type: ignore[no-untyped-def]
    text = change(NESTED)
    found = read_opml(text if isinstance(text, bytes) else text.encode())
    assert [one.address for one in found][:2] == ["https://example.com/feed?a=1&b=2", "http://port.example/rss"]


@pytest.mark.parametrize("body", [b"", b"<html><body>x</body></html>", b"https://example.com/feed", b"\x00\x01"])
def test_other_files_are_refused(body: bytes) -> None:
    with pytest.raises(UnsupportedContent):
        read_opml(body)


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE opml [<!ENTITY a "b"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
    (one,) = read_opml(f'{bomb}<opml><body><outline text="&a;&x;" xmlUrl="https://e.com/"/></body></opml>'.encode())
    assert (one.address, one.title) == ("https://e.com/", "&a;&x;")


def test_depth_and_number_are_bounded() -> None:
    deep = '<outline text="f">' * 5_000 + '<outline type="rss" xmlUrl="https://e.com/"/>' + "</outline>" * 5_000
    (one,) = read_opml(f"<opml><body>{deep}</body></opml>".encode())
    assert one.folder == "/".join("f" * 20)
    many = "".join(f'<outline xmlUrl="https://e.com/{number}"/>' for number in range(10_500))
    assert len(read_opml(f"<opml><body>{many}</body></opml>".encode())) == 10_000


def test_what_is_exported_can_be_imported_again(library: Store, run: Run) -> None:
    add_feed(
        library,
        "https://example.com/a?x=1&y=<2>",
        title='The "old" & new',
        folder="News/Sea & air",
        site="https://e.com/",
    )
    add_feed(library, "https://example.com/b", folder="News", settings=FeedSettings(name="Mine"))
    add_feed(library, "https://example.com/c")
    add_feed(library, "letters.example.com", kind="mail", title="Letters")
    text = subscriptions.export_list(library)
    before = [(feed.address, feed.label, feed.folder, feed.site) for feed in library.feeds.list() if feed.kind == "web"]
    for feed in library.feeds.list():
        library.feeds.remove(feed.id)
    outlines = run(subscriptions.read_list, text.encode())
    report = subscriptions.import_list(library, outlines)
    assert (report.added, report.known, report.failed) == (3, 0, ())
    assert [(feed.address, feed.label, feed.folder, feed.site) for feed in library.feeds.list()] == before
    again = subscriptions.import_list(library, outlines)
    assert (again.added, again.known) == (0, 3)
