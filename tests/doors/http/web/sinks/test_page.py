"""`/sinks`: a sink is added, paired and tested with forms alone."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from tests.library.sinks.fakes import AnytypeApp, running


def test_a_sink_is_added_paired_and_tested_with_forms(client: TestClient) -> None:
    with running(AnytypeApp()) as fake:
        empty = client.get("/sinks").text
        for label in ("Anytype", "Readwise Reader", "Webhook"):
            assert f"<summary>{label}</summary>" in empty
        form = {
            "kind": "anytype",
            "name": "notes",
            "address": fake.url,
            "rules": "tag:work\nis:pinned\n",
            "set.type": "note",
        }
        added = client.post("/sinks", data=form)
        assert "Not paired yet" in added.text
        (path,) = set(re.findall(r'action="(/sinks/[0-9a-f-]{36})"', added.text))
        started = client.post(path, data={"action": "pair"}).text
        (attempt,) = re.findall(r'name="attempt" value="([^"]+)"', started)
        wrong = client.post(path, data={"action": "code", "attempt": attempt, "code": "0000"})
        assert wrong.status_code == 422
        assert 'name="attempt"' in wrong.text
        paired = client.post(path, data={"action": "code", "attempt": attempt, "code": fake.code}).text
        assert "Items go to the space Notes." in paired
        assert "Items go to" in client.post(path, data={"action": "test"}).text
        assert "Saved items that match: 0." in client.post(path, data={"action": "send"}).text
        assert "tag:play" in client.post(path, data={"action": "rules", "rules": "tag:play"}).text
        assert "switched off" in client.post(path, data={"action": "off"}).text
        client.post(path, data={"action": "on"})
        assert fake.faults == []
    gone = client.post(path, data={"action": "test"})
    assert gone.status_code == 502
    assert "refused the connection" in gone.text
    assert "/sinks/" not in client.post(path, data={"action": "remove"}).text.replace("/sinks/outbox", "")


def test_the_secret_of_a_webhook_is_shown_once_and_mistakes_keep_what_was_typed(client: TestClient) -> None:
    form = {
        "kind": "webhook",
        "name": "hook",
        "address": "https://example.com/hook",
        "rules": "tga:work",
        "set.content": "no",
    }
    wrong = client.post("/sinks", data=form)
    assert wrong.status_code == 422
    assert "tga:work" in wrong.text
    assert 'value="https://example.com/hook"' in wrong.text
    added = client.post("/sinks", data={**form, "rules": "tag:work"})
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", added.text)
    assert added.headers["cache-control"] == "no-store"
    assert secret not in client.get("/sinks").text
    (path,) = set(re.findall(r'action="(/sinks/[0-9a-f-]{36})"', added.text))
    assert client.post(path, data={"action": "secret", "secret": "no key"}).status_code == 422
    assert client.post(path, data={"action": "secret", "secret": secret}).status_code == 200
