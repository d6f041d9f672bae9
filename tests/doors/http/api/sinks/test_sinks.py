"""Sinks over HTTP: added, paired, tested and delivered to by the running server; no secret in any answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.caller import CSRF_HEADER, csrf_token
from pagekeep.identity import accounts
from pagekeep.library.webhooks import new_secret
from pagekeep.store import Store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.library.sinks.fakes import AnytypeApp, Webhooks, running
from tests.store.making import make_item


def wait(client: TestClient, is_done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the only sink when it is in a state."""
    for _ in range(1_200):
        (sink,) = client.get("/api/v1/sinks").json()["sinks"]
        if is_done(sink):
            return dict(sink)
        time.sleep(0.05)
    raise AssertionError(f"not reached: {sink}")


def test_anytype_is_paired_and_gets_what_is_saved_while_the_server_runs(client: TestClient, library: Store) -> None:
    with running(AnytypeApp()) as fake:
        new = {"kind": "anytype", "address": fake.url, "rules": ["tag:work"]}
        made = client.post("/api/v1/sinks", json=new)
        assert made.status_code == 201
        sink = made.json()["sink"]
        assert (sink["has_secret"], sink["settings"], made.json()["secret"]) == (False, {"type": "page"}, None)
        path = f"/api/v1/sinks/{sink['id']}"
        assert client.post(f"{path}/test").status_code == 404
        attempt = client.post(f"{path}/pairing").json()["attempt"]
        wrong = client.post(f"{path}/pairing/code", json={"attempt": attempt, "code": "0000"})
        assert wrong.status_code == 422
        assert "code" in wrong.json()["error"]["message"]
        paired = client.post(f"{path}/pairing/code", json={"attempt": attempt, "code": fake.code})
        assert paired.json()["sink"]["has_secret"] is True
        assert "space Notes" in client.post(f"{path}/test").json()["message"]
        library.items.save(make_item(1, tags=["work"], quality="article"), None)
        library.items.save(make_item(2), None)
        sent = wait(client, lambda one: one["sent"] == 1)
        assert (sent["waiting"], sent["dead"], sent["error"]) == (0, 0, None)
        changed = client.patch(path, json={"rules": ["*"], "state": "active"}).json()["sink"]
        assert changed["rules"] == ["*"]
        assert client.post(f"{path}/send").json() == {"count": 2}
        wait(client, lambda one: one["sent"] == 2)
        assert len(fake.objects) == 2
        for text in (paired.text, client.get("/api/v1/sinks").text, client.get(path).text, client.get("/sinks").text):
            assert fake.key not in text
        assert client.delete(path).status_code == 204
        assert client.get(path).status_code == 404
        assert fake.faults == []


def test_what_failed_is_listed_with_its_reason_and_retried(client: TestClient, library: Store) -> None:
    class Picky(Webhooks):
        refuses = True

        def answer(self, *values: Any) -> tuple[int, Any]:
            return (422, {"why": "<script>"}) if self.refuses else super().answer(*values)

    secret = new_secret()
    with running(Picky(secret)) as fake:
        new = {"kind": "webhook", "name": "hook", "address": fake.url, "rules": ["*"], "secret": secret}
        assert client.post("/api/v1/sinks", json=new).json()["secret"] is None
        assert client.post("/api/v1/sinks", json=new).status_code == 409
        item = library.items.save(make_item(1, title="An <i>odd</i> page"), None)
        wait(client, lambda one: one["dead"] == 1)
        (dead,) = client.get("/api/v1/outbox", params={"sink": "hook", "state": "dead"}).json()["deliveries"]
        assert (dead["item_id"], dead["title"], dead["attempts"]) == (item.id, "An <i>odd</i> page", 1)
        assert "422" in dead["error"]["message"]
        page = client.get("/sinks").text
        assert "An &lt;i&gt;odd&lt;/i&gt; page" in page
        assert "<script>" not in page.replace('<script src="', "").replace("<script nonce", "")
        fake.refuses = False
        assert client.post("/api/v1/outbox/retry", json={"position": dead["position"]}).json() == {"count": 1}
        wait(client, lambda one: one["sent"] == 1)
        assert client.post("/api/v1/outbox/drop", json={}).json() == {"count": 0}


def test_a_token_can_use_sinks_but_not_add_or_redirect_them(client: TestClient) -> None:
    made = client.post("/api/v1/sinks", json={"kind": "webhook", "address": "https://example.com/hook"}).json()
    assert made["secret"].startswith("whsec_")
    token = accounts.add_token(service_of(client).accounts, "local", "program").secret
    headers = {"authorization": f"Bearer {token}"}
    path = f"/api/v1/sinks/{made['sink']['id']}"
    assert client.get("/api/v1/sinks", headers=headers).status_code == 200
    new = {"kind": "webhook", "name": "mine", "address": "https://evil.example/"}
    assert client.post("/api/v1/sinks", json=new, headers=headers).status_code == 403
    assert client.post("/sinks", data=new, headers=headers).status_code == 403
    for change in ({"rules": ["*"]}, {"secret": "x"}, {"state": "off"}):
        assert client.patch(path, json=change, headers=headers).status_code == 403
    assert client.post(f"{path}/pairing", headers=headers).status_code == 403
    assert client.post(path.removeprefix("/api/v1"), data={"action": "rules"}, headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/v2/crawl", "/v2/batch/scrape"])
@pytest.mark.parametrize(
    "hook", ["http://127.0.0.1:1/hook", {"url": "http://127.0.0.1:1/hook", "headers": {"X-Key": "k1"}}]
)
def test_the_webhook_of_a_crawl_is_a_sink_and_needs_the_right_to_add_one(
    shared: TestClient, path: str, hook: Any
) -> None:
    service = service_of(shared)
    user = accounts.add_user(service.accounts, "ann", PASSWORD)
    session = accounts.open_session(service.accounts, user.id)
    by_session = {"cookie": f"pagekeep_session={session}", CSRF_HEADER: csrf_token(service, session)}
    by_token = {"authorization": f"Bearer {accounts.add_token(service.accounts, user.id, 'program').secret}"}
    body = {"url": "http://127.0.0.1:1/a", "urls": ["http://127.0.0.1:1/a"], "webhook": hook}
    refused = shared.post(path, json=body, headers=by_token)
    assert refused.status_code == 403
    assert "webhook" in refused.json()["error"]
    assert shared.get("/v2/crawl/active", headers=by_token).json()["crawls"] == []
    assert shared.get("/api/v1/sinks", headers=by_token).json()["sinks"] == []
    assert shared.post(path, json={**body, "webhook": None}, headers=by_token).status_code == 200
    assert shared.post(path, json=body, headers=by_session).status_code == 200
    (sink,) = shared.get("/api/v1/sinks", headers=by_token).json()["sinks"]
    assert (sink["kind"], sink["address"], sink["rules"]) == ("firecrawl", "http://127.0.0.1:1/hook", [])
    page = shared.get("/sinks", headers=by_session).text
    assert "Webhook of a crawl" in page
    assert "http://127.0.0.1:1/hook" in page
    assert "k1" not in page
    own = f"/api/v1/sinks/{sink['id']}"
    for change in ({"rules": ["*"]}, {"secret": "other"}):
        assert shared.patch(own, json=change, headers=by_session).status_code == 422
    assert shared.patch(own, json={"state": "off"}, headers=by_session).json()["sink"]["state"] == "off"
    assert shared.delete(own, headers=by_session).status_code == 204
    assert shared.get("/api/v1/sinks", headers=by_token).json()["sinks"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "notion"}, 422),
        ({"kind": "webhook"}, 422),
        ({"kind": "webhook", "address": "http://10.0.0.1/"}, 403),
        ({"kind": "webhook", "address": "http://localhost:8470/api/v1/items"}, 403),
        ({"kind": "webhook", "address": "https://example.com", "secret_command": "id"}, 422),
        ({"kind": "webhook", "address": "https://example.com", "rules": ["before:yesterday"]}, 422),
        ({"kind": "readwise", "address": "https://evil.example", "secret": "x"}, 422),
    ],
)
def test_what_cannot_be_a_sink_is_refused(client: TestClient, body: dict[str, Any], status: int) -> None:
    assert client.post("/api/v1/sinks", json=body).status_code == status
    assert client.get("/api/v1/sinks").json()["sinks"] == []
