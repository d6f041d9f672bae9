"""Mail sources over HTTP: a newsletter from a real mailbox to the feed inbox, without the password in any answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.model import EntryQuery
from pagekeep.store import Store
from tests.site.imap import ImapServer

SOURCE = {"host": "imap.example.com", "user": "ann", "senders": ["letters.example"]}


def test_sources_are_added_changed_listed_and_removed(client: TestClient) -> None:
    made = client.post("/api/v1/mail-sources", json=SOURCE)
    assert made.status_code == 201
    source = made.json()["source"]
    assert (source["port"], source["security"], source["every"], source["folder"]) == (993, "tls", "15m", "INBOX")
    path = f"/api/v1/mail-sources/{source['id']}"
    changed = client.patch(path, json={"senders": ["*"], "every": "1h"}).json()["source"]
    assert (changed["senders"], changed["every"]) == (["*"], "1h")
    assert client.post(f"{path}/poll").status_code == 202
    assert [one["id"] for one in client.get("/api/v1/mail-sources").json()["sources"]] == [source["id"]]
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404


def test_what_cannot_be_is_refused(client: TestClient) -> None:
    for wrong in ({"senders": []}, {"senders": ["x y"]}, {"host": "a b"}, {"every": "1s"}, {"password": "secret"}):
        answer = client.post("/api/v1/mail-sources", json={**SOURCE, **wrong})
        assert 400 <= answer.status_code < 500
        assert "secret" not in answer.json()["error"]["message"]
    assert client.get("/api/v1/mail-sources").json()["sources"] == []


def test_a_message_arrives_while_the_server_runs(
    settings: Settings, serve: Callable[..., TestClient], library: Store
) -> None:
    with ImapServer(password="hidden-password") as mailbox:
        mailbox.add(b"From: a@letters.example\nSubject: Tides\nMessage-ID: <1@l.example>\n\nHigh water at six.\n")
        own = replace(settings, mail_account=f"{mailbox.user}@127.0.0.1", mail_password=mailbox.password)
        client = serve(own)
        body = {**SOURCE, "host": "127.0.0.1", "user": mailbox.user, "port": mailbox.port, "security": "plain"}
        answer = client.post("/api/v1/mail-sources", json=body)
        source = _wait(client, lambda one: one["polled_at"] is not None)
        assert (source["counts"]["added"], source["error"]) == (1, None)
        assert [entry.title for entry in library.entries.find(EntryQuery()).entries] == ["Tides"]
        page = client.get("/settings/mail").text
        for text in (answer.text, str(source), page):
            assert "hidden-password" not in text


def _wait(client: TestClient, is_done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    for _ in range(600):
        source = client.get("/api/v1/mail-sources").json()["sources"][0]
        if is_done(source):
            return dict(source)
        time.sleep(0.05)
    raise AssertionError("The mailbox was not polled.")
