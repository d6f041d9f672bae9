"""Tokens by password, refresh tokens, app passwords, and the pages that the Android app reads."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.doors.http.middleware.body_limits import MAX_SIGN_IN_BYTES
from pagekeep.identity import accounts
from tests.doors.http.conftest import PASSWORD, service_of

TOKEN = "/wallabag/oauth/v2/token"
API = "/wallabag/api"
BY_PASSWORD = {
    "grant_type": "password",
    "client_id": "1_x",
    "client_secret": "y",
    "username": "ada",
    "password": PASSWORD,
}


@pytest.fixture
def ada(shared: TestClient) -> TestClient:
    accounts.add_user(service_of(shared).accounts, "ada", PASSWORD)
    return shared


def bearer(secret: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}"}


@pytest.mark.parametrize("way", ["form", "json", "query"])
def test_a_password_gets_tokens(ada: TestClient, way: str) -> None:
    answer = {
        "form": lambda: ada.post(TOKEN, data=BY_PASSWORD),
        "json": lambda: ada.post(TOKEN, json=BY_PASSWORD),
        "query": lambda: ada.get(TOKEN, params=BY_PASSWORD),
    }[way]()
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    body = answer.json()
    assert (body["expires_in"], body["token_type"]) == (3600, "bearer")
    assert ada.get(f"{API}/entries", headers=bearer(body["access_token"])).json()["total"] == 0
    assert ada.get(f"{API}/entries", headers=bearer(body["refresh_token"])).status_code == 401


def test_a_token_opens_its_dialect_only(ada: TestClient) -> None:
    access = ada.post(TOKEN, data=BY_PASSWORD).json()["access_token"]
    for path in ("/api/v1/items", "/linkding/api/tags/", "/", "/mcp/", "/wallabagx", "/metrics"):
        assert ada.get(path, headers=bearer(access)).status_code in (403, 404), path
    made = accounts.add_token(service_of(ada).accounts, _user(ada), "reader", ("read", "linkding"))
    assert ada.get(f"{API}/entries", headers=bearer(made.secret)).status_code == 403


def _user(client: TestClient) -> str:
    return accounts.find_user(service_of(client).accounts, "ada").id


def test_wrong_password_and_expired_tokens(ada: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = ada.post(TOKEN, json={**BY_PASSWORD, "password": "wrong"})
    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
    assert ada.post(TOKEN, json={**BY_PASSWORD, "grant_type": "x"}).json()["error"] == "unsupported_grant_type"
    first = ada.post(TOKEN, json=BY_PASSWORD).json()
    later = clock.add_seconds(clock.now(), 3700)
    monkeypatch.setattr(clock, "now", lambda: later)
    expired = ada.get(f"{API}/entries", headers=bearer(first["access_token"]))
    assert (expired.status_code, expired.json()["error"]) == (401, "invalid_grant")
    renew = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"], "client_id": "1_x"}
    second = ada.post(TOKEN, data=renew).json()
    assert ada.get(f"{API}/entries", headers=bearer(second["access_token"])).status_code == 200
    again = ada.post(TOKEN, data=renew)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant"), "Android then uses the password"


def test_an_app_password_signs_in_and_ends_when_it_is_revoked(ada: TestClient) -> None:
    service = service_of(ada)
    made = accounts.add_token(service.accounts, _user(ada), "e-reader", ("read", "wallabag"))
    sent = {**BY_PASSWORD, "password": made.secret}
    body = ada.post(TOKEN, json=sent).json()
    assert ada.get(f"{API}/entries", headers=bearer(body["access_token"])).status_code == 200
    refused = ada.post(f"{API}/entries", json={"url": "https://x.example"}, headers=bearer(body["access_token"]))
    assert (refused.status_code, refused.json()["error"]) == (403, "access_denied"), "it only reads"
    assert ada.post(TOKEN, json={**sent, "username": "grace"}).status_code == 400
    assert accounts.get_tokens(service.accounts, _user(ada))[0].last_used_at is not None
    accounts.revoke_token(service.accounts, _user(ada), made.token.id)
    assert ada.get(f"{API}/entries", headers=bearer(body["access_token"])).status_code == 401
    assert ada.post(TOKEN, json=sent).status_code == 400


def test_tokens_do_not_pile_up(ada: TestClient) -> None:
    for _ in range(25):
        ada.post(TOKEN, json=BY_PASSWORD)
    tokens = accounts.get_tokens(service_of(ada).accounts, _user(ada))
    assert len(tokens) == 40
    accounts.add_token(service_of(ada).accounts, _user(ada), "another")


def test_a_large_body_of_an_unknown_client_is_not_read(ada: TestClient) -> None:
    large = ada.post(TOKEN, data={**BY_PASSWORD, "more": "x" * MAX_SIGN_IN_BYTES})
    assert (large.status_code, large.json()["code"]) == (413, 413)
    unknown = ada.post(f"{API}/entries", json={"url": "https://x.example"})
    assert (unknown.status_code, unknown.json()["error"]) == (401, "invalid_grant")


def test_a_server_without_users_needs_no_password(client: TestClient) -> None:
    body = client.post(TOKEN, data={**BY_PASSWORD, "password": "anything"}).json()
    assert client.get(f"{API}/entries", headers=bearer(body["access_token"])).status_code == 200
    assert client.post(TOKEN, data={**BY_PASSWORD, "password": "pk_wrong"}).status_code == 400
    foreign = client.post(TOKEN, data=BY_PASSWORD, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403


def test_the_android_app_sets_itself_up(ada: TestClient) -> None:
    """The requests of the app's setup, and the patterns by which it reads the pages."""
    page = ada.get("/wallabag/").text
    assert 'alt="wallabag logo">' in page
    assert '/login_check" method="post" name="loginform">' in page
    csrf = re.search(r'<input type="hidden" name="_csrf_token" value="([^"]+)"', page)
    assert csrf is not None
    form = {"_username": "ada", "_password": "wrong", "_csrf_token": csrf[1]}
    assert '/logout">' not in ada.post("/wallabag/login_check", data=form).text
    assert ada.get("/wallabag/developer").text.count('name="loginform">') == 1
    home = ada.post("/wallabag/login_check", data={**form, "_password": PASSWORD}).text
    assert '/logout">' in home
    developer = ada.get("/wallabag/developer").text
    found = re.search(
        r'<div class="collapsible-header">Android app - #.*?</div>' + r".*?<strong><code>([^<]*)</code></strong>" * 4,
        developer,
        re.DOTALL,
    )
    assert found is not None
    assert "/developer/client/delete/" in developer[found.end() :]
    tokens = ada.post(TOKEN, data={**BY_PASSWORD, "client_id": found[1], "client_secret": found[2]})
    assert tokens.status_code == 200
    assert len(re.findall(r"<li>.*?<strong><pre>", ada.post("/wallabag/developer/client/create").text)) == 3
    assert ada.get("/api/v1/items").status_code == 401, "the cookie of the pages opens nothing"
    ada.get("/wallabag/logout")
    assert ada.get("/wallabag/developer/client/create").status_code == 404


def test_the_form_must_be_ours(ada: TestClient) -> None:
    form = {"_username": "ada", "_password": PASSWORD, "_csrf_token": "guessed"}
    assert ada.post("/wallabag/login_check", data=form).status_code == 403
