"""A library brought along by a form."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pagekeep.model import ItemFilter
from pagekeep.store import Store

BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p>
<DT><A HREF="https://one.invalid/a" ADD_DATE="1700000000" TAGS="sea,boats">The boat</A>
<DT><A HREF="nonsense">Nothing</A>
</DL>
"""


def test_a_file_is_imported_and_what_failed_is_told(client: TestClient, library: Store) -> None:
    page = client.post("/import", data={"fetch": "never"}, files={"file": ("bookmarks.html", BOOKMARKS, "text/html")})
    assert page.status_code == 200
    assert "1 added" in page.text
    [item] = library.list_items(ItemFilter()).items
    assert (item.title, item.metadata["tags"]) == ("The boat", ["sea", "boats"])
    assert library.jobs() == ()


def test_pages_without_text_are_queued_when_one_wants(client: TestClient, library: Store) -> None:
    client.post(
        "/import", data={"fetch": "queue"}, files={"file": ("list.txt", b"https://one.invalid/a\n", "text/plain")}
    )
    assert [job.url_full for job in library.jobs()] == ["https://one.invalid/a"]


def test_a_file_that_is_no_export_says_so(client: TestClient) -> None:
    answer = client.post("/import", files={"file": ("x.bin", b"\x00\x01\x02", "application/octet-stream")})
    assert answer.status_code >= 400
    assert 'role="alert"' in answer.text
