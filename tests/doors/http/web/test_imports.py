"""A library brought along by a form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.caller import CSRF_FIELD, csrf_token
from pagekeep.doors.http.user_limits import ImportSlots
from pagekeep.doors.http.web import transfers
from pagekeep.identity import accounts as app
from pagekeep.library.imports.run import ImportReport, import_upload
from pagekeep.model import ItemQuery, item_filters
from pagekeep.store import Store
from tests.doors.http.conftest import PASSWORD, service_of

BOOKMARKS = b"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p>
<DT><A HREF="https://one.invalid/a" ADD_DATE="1700000000" TAGS="sea,boats">The boat</A>
<DT><A HREF="nonsense">Nothing</A>
</DL>
"""


def test_a_file_is_imported_and_what_failed_is_reported(client: TestClient, library: Store) -> None:
    page = client.post("/import", data={"fetch": "never"}, files={"file": ("bookmarks.html", BOOKMARKS, "text/html")})
    assert page.status_code == 200
    assert "1 added" in page.text
    [item] = library.search.find(ItemQuery(filters=item_filters(archived=False))).items
    assert (item.title, list(item.metadata.tags)) == ("The boat", ["sea", "boats"])
    assert library.jobs.list() == ()


def padded(megabytes: int) -> bytes:
    return BOOKMARKS + b"<!-- nothing to see here -->\n" * (megabytes * 1_000_000 // 29)


def test_a_large_file_goes_by_the_disk(client: TestClient, library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    spooled: list[bool] = []

    def watched(file: Any, *rest: Any) -> ImportReport:
        spooled.append(file._rolled)
        return import_upload(file, *rest)

    monkeypatch.setattr(transfers, "import_upload", watched)
    page = client.post("/import", data={"fetch": "never"}, files={"file": ("bookmarks.html", padded(40), "text/html")})
    assert page.status_code == 200
    assert spooled == [True]
    assert len(library.search.find(ItemQuery(filters=item_filters(archived=False))).items) == 1


def test_a_file_over_the_bound_is_refused_and_so_is_a_large_one_elsewhere(
    settings: Settings, serve: Callable[..., TestClient]
) -> None:
    client = serve(replace(settings, import_bytes=2_000_000))
    files = {"file": ("bookmarks.html", padded(3), "text/html")}
    assert client.post("/import", files=files).status_code == 413
    large = {"file": ("bookmarks.html", padded(72), "text/html")}
    assert client.post("/add", files=large).status_code == 413


def test_nothing_is_read_of_an_unknown_client(shared: TestClient) -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while read < 50:
            read += 1
            yield b"x" * 1_000_000

    headers = {"content-type": "multipart/form-data; boundary=b"}
    assert shared.post("/import", content=endless(), headers=headers).status_code == 401
    assert read == 0


def test_pages_without_text_are_queued_when_one_wants(client: TestClient, library: Store) -> None:
    client.post(
        "/import", data={"fetch": "queue"}, files={"file": ("list.txt", b"https://one.invalid/a\n", "text/plain")}
    )
    assert [job.url_full for job in library.jobs.list()] == ["https://one.invalid/a"]


def test_a_file_that_is_not_an_export_says_so(client: TestClient) -> None:
    answer = client.post("/import", files={"file": ("x.bin", b"\x00\x01\x02", "application/octet-stream")})
    assert answer.status_code >= 400
    assert 'role="alert"' in answer.text


def test_imports_leave_the_threads_that_read_pages_for_others_alone(
    client: TestClient,
) -> None:
    """Each of several at once carries pages to be read; none waits for a thread that another one holds."""
    service_of(client).imports = ImportSlots(8, of_user=8)

    def export(name: int) -> bytes:
        page = "<p>" + "Words about a harbour. " * 40 + "</p>"
        rows = [
            {"url": f"https://{name}.invalid/{row}", "is_archived": 0, "title": "T", "content": page} for row in "ab"
        ]
        return json.dumps(rows).encode()

    def bring(name: int) -> int:
        files = {"file": ("w.json", export(name), "application/json")}
        return int(client.post("/import", data={"fetch": "never"}, files=files).status_code)

    with ThreadPoolExecutor(8) as beside:
        assert set(beside.map(bring, range(8))) == {200}
    asked = {"html": "<p>hello</p>", "url": "https://e.example/"}
    assert client.post("/api/v1/extract", json=asked).status_code == 200


def test_where_imports_are_under_way_the_next_is_asked_to_come_back(client: TestClient, library: Store) -> None:
    service_of(client).imports = ImportSlots(0)
    page = client.post("/import", files={"file": ("bookmarks.html", BOOKMARKS, "text/html")})
    assert (page.status_code, page.headers["retry-after"]) == (429, "60")
    assert "Try again in a minute." in page.text
    assert library.search.find(ItemQuery(filters=item_filters(archived=False))).items == ()


@pytest.mark.parametrize("by", ["session", "token"])
def test_one_file_is_taken_no_matter_which_client_sends_it(shared: TestClient, by: str) -> None:
    accounts = service_of(shared).accounts
    ada = app.add_user(accounts, "ada", PASSWORD).id
    data, headers = {"fetch": "never"}, {}
    if by == "session":
        session = app.open_session(accounts, ada)
        shared.cookies.set("pagekeep_session", session)
        data[CSRF_FIELD] = csrf_token(service_of(shared), session)
    else:
        headers["authorization"] = f"Bearer {app.add_token(accounts, ada, 'it').secret}"
    files = [("file", (f"{number}.txt", b"https://one.invalid/a\n", "text/plain")) for number in range(2)]
    codes = [shared.post("/import", data=data, files=sent, headers=headers).status_code for sent in (files, files[:1])]
    assert codes == [400, 200]
