"""The reader's page of mail sources."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from pagekeep.library.feeds.mail_sources import list_sources
from pagekeep.store import Store


def token_of(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    return found[1] if found else ""


def test_a_folder_is_added_changed_and_removed_in_the_reader(client: TestClient, library: Store) -> None:
    page = client.get("/settings/mail").text
    assert "Newsletters by mail" in client.get("/settings").text
    form = {"csrf": token_of(page), "host": "imap.example.com", "account": "ann", "senders": "a.example, bo@b.example"}
    answer = client.post("/settings/mail", data=form, follow_redirects=False)
    assert answer.status_code == 303
    (source,) = list_sources(library)
    assert (source.senders, source.folder.security) == (("a.example", "bo@b.example"), "tls")
    path = f"/settings/mail/{source.id}"
    client.post(path, data={"csrf": form["csrf"], "action": "allow", "sender": "c@c.example"})
    assert list_sources(library)[0].senders == ("a.example", "bo@b.example", "c@c.example")
    client.post(path, data={"csrf": form["csrf"], "action": "remove"})
    assert list_sources(library) == ()


def test_a_mistake_is_explained_and_what_was_typed_stays(client: TestClient) -> None:
    form = {"csrf": token_of(client.get("/settings/mail").text), "host": "imap.example.com", "account": "ann<b>"}
    answer = client.post("/settings/mail", data=form)
    assert answer.status_code == 422
    assert "No sender is named" in answer.text
    assert "ann&lt;b&gt;" in answer.text
