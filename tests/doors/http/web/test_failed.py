"""The list of pages that could not be saved: the one place where they are, whatever way they came."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep.errors import BlockedAddress, FetchHttpError, FetchTimeout, PagekeepError
from pagekeep.library.saving.failed_saves import keep_address, list_failed
from pagekeep.store import Store
from tests.site.fixtures import Shore, article

FAULTS = {
    "gone": FetchHttpError("`e.example` answered 404.", status=404, suggestions=("Set `allow_hosts`.",)),
    "slow": FetchTimeout("Too slow."),
    "private": BlockedAddress("This is a private address."),
}
LISTS = ("/", *(f"/?state={name}" for name in ("unread", "reading", "read", "pinned", "archive", "all", "trash")))


def fail(library: Store, name: str) -> str:
    """Make a failed save, and return its id."""
    error: PagekeepError = FAULTS[name]
    error.item_id = None
    keep_address(library, f"https://e.example/{name}", error, tags=("harbour",))
    return str(error.item_id)


@pytest.fixture
def failed(library: Store) -> str:
    return fail(library, "gone")


def badge(client: TestClient, path: str = "/") -> int:
    """The number beside "Could not be saved" in the sidebar."""
    found = re.search(r'<a href="/failed".*?<span class="amount">(\d+)', client.get(path).text)
    return int(found[1]) if found else 0


def test_a_failed_save_is_in_one_list_and_in_no_other(client: TestClient, failed: str) -> None:
    assert f"/items/{failed}" in client.get("/failed").text
    for path in (*LISTS, "/?tag=harbour", "/?domain=e.example", "/?q=example"):
        assert f"/items/{failed}" not in client.get(path).text, path
    assert "1 page could not be saved" in client.get("/").text
    assert "1 page could not be saved" in client.get("/waiting").text


def test_a_page_added_in_the_reader_that_is_not_there_is_in_one_list_only(
    client: TestClient, library: Store, shore: Shore
) -> None:
    shore.statuses["a"] = 404
    page = client.post("/add", data={"urls": shore.url("a")})
    assert "This page could not be saved." in page.text
    (item,) = list_failed(library).items
    assert client.get("/failed").text.count(f"/items/{item.id}") == 1
    for path in LISTS:
        assert f"/items/{item.id}" not in client.get(path).text, path


def test_the_reason_and_the_next_step_are_in_words_for_readers(client: TestClient, failed: str) -> None:
    page = client.get("/failed").text
    assert "<h1>Could not be saved</h1>" in page
    assert "https://e.example/gone" in page
    assert "There is no page at this address." in page
    assert "allow_hosts" not in page
    assert "`" not in page
    for label in ("Try again", "Keep as a bookmark", "Delete"):
        assert label in page


def test_everything_was_saved_is_said_only_when_it_is_true(client: TestClient, library: Store) -> None:
    assert "Everything was saved" in client.get("/failed").text
    key = fail(library, "slow")
    for path in ("/failed", "/failed?after=nonsense"):
        assert "Everything was saved" not in client.get(path).text
    client.post(f"/failed/{key}", data={"action": "keep"})
    assert "Everything was saved" in client.get("/failed").text


def test_a_kept_bookmark_moves_to_the_inbox_and_back_by_undo(client: TestClient, library: Store, failed: str) -> None:
    page = client.post(f"/failed/{failed}", data={"action": "keep"}).text
    assert "Kept as a bookmark." in page
    assert f"/items/{failed}" in client.get("/").text
    assert badge(client) == 0
    undo = re.search(r'action="(/actions/[^"]+/undo)"', page)
    assert undo is not None
    client.post(undo[1])
    assert f"/items/{failed}" not in client.get("/").text
    assert badge(client) == 1


def test_a_deleted_failure_is_in_the_trash_and_back_by_undo(client: TestClient, library: Store, failed: str) -> None:
    page = client.post(f"/failed/{failed}", data={"action": "delete", "back": "https://evil.example/"})
    assert "evil" not in str(page.url)
    assert f"/items/{failed}" in client.get("/?state=trash").text
    assert badge(client) == 0
    page = client.post(f"/failed/{fail(library, 'gone')}", data={"action": "delete"})
    undo = re.search(r'action="(/actions/[^"]+/undo)"', page.text)
    assert undo is not None
    client.post(undo[1])
    assert badge(client) == 1


def test_a_page_that_is_tried_again_leaves_the_list_when_it_is_saved(
    client: TestClient, library: Store, shore: Shore
) -> None:
    shore.statuses["a"] = 404
    client.post("/add", data={"urls": shore.url("a")})
    (item,) = list_failed(library).items
    del shore.statuses["a"]
    shore.bodies["a"] = article(300)
    client.post(f"/failed/{item.id}", data={"action": "again"})
    while badge(client):  # the server's worker saves it
        pass
    assert f"/items/{item.id}" in client.get("/").text
    assert library.items.get(item.id).metadata.quality == "article"


def test_a_page_in_the_queue_is_not_offered_to_be_tried_again(client: TestClient, library: Store, failed: str) -> None:
    library.jobs.add("https://e.example/gone", "https://e.example/gone", {}, "2099-01-01T00:00:00.000000Z")
    page = client.get("/failed").text
    assert "In the queue, to be tried again" in page
    assert "Try again" not in page


def test_the_counts_of_sidebar_list_and_api_agree(client: TestClient, library: Store) -> None:
    for name in FAULTS:
        fail(library, name)
    page = client.get("/failed").text
    assert page.count('name="action" value="keep"') == badge(client, "/failed") == 3
    assert len(client.get("/api/v1/items?failed=true").json()["items"]) == 3
    stats = client.get("/api/v1/stats").json()["stats"]
    assert (stats["failed"], stats["items"]) == (3, 0)
    assert "3 pages could not be saved" in client.get("/").text


def test_a_long_list_has_pages(client: TestClient, library: Store) -> None:
    for number in range(51):
        keep_address(library, f"https://e.example/{number}", FetchTimeout("Too slow."))
    page = client.get("/failed").text
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following is not None
    both = page + client.get(following[1].replace("&amp;", "&")).text
    assert len(set(re.findall(r'action="/failed/([^"]+)"', both))) == 51
    assert "Try 51 again" in page
    client.post("/failed")
    assert len(library.jobs.list(limit=100)) == 51


def test_failures_are_listed_and_kept_by_the_api(client: TestClient, library: Store, failed: str) -> None:
    assert client.get("/api/v1/items?archived=any").json()["items"] == []
    (item,) = client.get("/api/v1/items?failed=true").json()["items"]
    assert (item["id"], item["failed"], item["fetch_again"], item["quality"]) == (failed, True, False, "bookmark")
    kept = client.patch(f"/api/v1/items/{failed}", json={"failed": False}).json()["item"]
    assert kept["failed"] is False
    assert [one["id"] for one in client.get("/api/v1/items").json()["items"]] == [failed]
    assert client.patch(f"/api/v1/items/{failed}", json={"failed": True}).status_code == 422
