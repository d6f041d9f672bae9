"""The history of a page in the reader: versions, what changed, watching, the inbox of changes and its feed."""

from __future__ import annotations

import re
import uuid
from xml.etree import ElementTree

from fastapi.testclient import TestClient

from pagekeep.model import Change, Retention
from pagekeep.store import open_store
from tests.doors.http.conftest import service_of
from tests.site.fixtures import article
from tests.store.making import NOW, make_raw

ATOM = "{http://www.w3.org/2005/Atom}"


def send(client: TestClient, words: str, url: str = "https://example.com/ferry") -> str:
    page = {"url": url, "html": article(300, extra=f"<p>The ferry leaves {words} in the long winter.</p>")}
    return str(client.post("/api/v1/saves", json=page).json()["item"]["id"])


def two_versions(client: TestClient) -> str:
    return {send(client, words) for words in ("at nine from the pier", "at ten from the pier")}.pop()


def test_the_page_of_an_item_has_a_panel_with_its_versions(client: TestClient) -> None:
    item_id = send(client, "at nine from the pier")
    assert "history-panel" not in client.get(f"/items/{item_id}").text
    assert two_versions(client) == item_id
    shown = client.get(f"/items/{item_id}").text
    assert "2 versions" in shown
    assert f"/items/{item_id}/diff?before=1&amp;after=2" in shown


def test_what_changed_is_marked_word_by_word_without_scripts(client: TestClient) -> None:
    shown = client.get(f"/items/{two_versions(client)}/diff").text
    assert "<del>nine</del><ins>ten</ins>" in shown
    assert "1 word added" in shown
    assert 'dir="auto"' in shown


def test_text_of_a_page_is_never_markup_in_a_difference(client: TestClient) -> None:
    send(client, "at nine")
    item_id = send(client, "&lt;script&gt;alert(1)&lt;/script&gt; at ten")
    shown = client.get(f"/items/{item_id}/diff").text
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert" in shown


def test_a_version_can_be_read_pinned_and_restored(client: TestClient) -> None:
    item_id = two_versions(client)
    assert "at nine from the pier" in client.get(f"/items/{item_id}/versions/1").text
    client.post(f"/items/{item_id}/versions/1", data={"action": "pin"})
    assert "Pinned" in client.get(f"/items/{item_id}/history").text
    client.post(f"/items/{item_id}/versions/1", data={"action": "restore"})
    assert "at nine from the pier" in client.get(f"/items/{item_id}").text
    assert client.get(f"/items/{item_id}/versions/9").status_code == 404


def test_a_highlight_whose_words_are_gone_says_so_without_scripts(client: TestClient) -> None:
    item_id = send(client, "at nine from the pier")
    client.post(f"/items/{item_id}/annotations", data={"quote": "at nine from"})
    assert '<p class="not-found" hidden>' in client.get(f"/items/{item_id}").text
    two_versions(client)
    assert '<p class="not-found">' in client.get(f"/items/{item_id}").text
    assert "1 highlight is not in the newer version" in client.get(f"/items/{item_id}/diff").text


def test_a_page_that_has_gone_offers_the_kept_copy(client: TestClient) -> None:
    item_id = send(client, "at nine")
    settings = service_of(client).settings
    library = open_store(settings.library, settings.user)
    library.items.set_metadata(
        item_id, NOW, link={"state": "gone", "reason": "Removed.", "archived": "https://a.example/1"}
    )
    library.close()
    assert "Gone from the web" in client.get("/?quality=gone").text
    shown = client.get(f"/items/{item_id}").text
    assert "You are reading the kept copy" in shown
    assert 'href="https://a.example/1"' in shown


def record(client: TestClient, item_id: str, title: str) -> None:
    settings = service_of(client).settings
    library = open_store(settings.library, settings.user)
    schedule = library.schedules.put("watch", item_id, "https://example.com/ferry", 86_400, "2099-01-01", NOW)
    change = Change(str(uuid.uuid4()), item_id, 1, 0, 5, 3, f"{title} \x07 <b>new</b>", NOW)
    library.changes.add(
        schedule.id, {}, library.items.get(item_id), make_raw(article(300).encode()), change, retention=Retention()
    )
    library.close()


def test_changes_are_in_an_inbox_until_they_are_seen(client: TestClient) -> None:
    item_id = send(client, "at nine")
    client.post(f"/items/{item_id}/watch", data={"every": "1w"})
    record(client, item_id, "Boats")
    assert re.search(r'Changes</span> <span class="amount">1<', client.get("/").text)
    shown = client.get("/changes").text
    assert "&lt;b&gt;new&lt;/b&gt;" in shown
    assert 'class="unseen"' in shown
    client.post("/changes", data={})
    assert 'class="unseen"' not in client.get("/changes").text
    client.post(f"/items/{item_id}/watch", data={"every": "never"})
    assert "None." in client.get("/changes").text


def test_the_feed_has_an_address_that_cannot_be_guessed_and_can_be_revoked(client: TestClient) -> None:
    item_id = send(client, "at nine")
    record(client, item_id, "Boats")
    made = client.post("/changes/feed").text
    address = re.search(r'<code class="secret">[^<]*(/feeds/changes/[^<]+)</code>', made)
    assert address is not None
    answer = client.get(address[1])
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert "<b>new</b>" in (entry.findtext(f"{ATOM}summary") or "")
    assert client.get(address[1], headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    secret = address[1].rpartition("/")[2]
    assert client.get("/api/v1/items", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    settings_page = client.get("/settings/tokens").text
    token = re.search(r"Feed of changes.*?/settings/tokens/([^/]+)/revoke", settings_page, re.DOTALL)
    assert token is not None
    client.post(f"/settings/tokens/{token[1]}/revoke")
    assert client.get(address[1]).status_code == 404
