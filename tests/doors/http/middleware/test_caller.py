"""Who is let in, by what, and to do what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.caller import CSRF_FIELD, CSRF_HEADER, csrf_token
from pagekeep.identity import accounts as app
from pagekeep.model import Scope
from tests.doors.http.conftest import PASSWORD, service_of

ITEMS = "/api/v1/items"
PURGE = "/api/v1/items/purge"


def bearer(client: TestClient, user_id: str, *scopes: Scope) -> dict[str, str]:
    secret = app.add_token(service_of(client).accounts, user_id, "test", scopes or ("read", "write")).secret
    return {"authorization": f"Bearer {secret}"}


@pytest.fixture
def ada(shared: TestClient) -> str:
    return app.add_user(service_of(shared).accounts, "ada", PASSWORD).id


def signed_in(client: TestClient, user_id: str) -> str:
    """Signs the client in; returns the form's token."""
    session = app.open_session(service_of(client).accounts, user_id)
    client.cookies.set("pagekeep_session", session)
    return csrf_token(service_of(client), session)


def test_a_session_may_look_and_with_the_pages_token_change(shared: TestClient, ada: str) -> None:
    token = signed_in(shared, ada)
    assert shared.get(ITEMS).status_code == 200
    assert shared.post(PURGE, json={"ids": []}, headers={CSRF_HEADER: token}).status_code == 200


@pytest.mark.parametrize("given", ["", "0" * 64, "\u00e9"])
def test_a_cookie_alone_changes_nothing(shared: TestClient, ada: str, given: str) -> None:
    signed_in(shared, ada)
    headers = {CSRF_HEADER: given.encode("latin-1")} if given else {}
    assert shared.post(PURGE, json={"ids": []}, headers=headers).status_code == 403


def test_the_token_of_another_session_does_not_do(shared: TestClient, ada: str) -> None:
    other = signed_in(shared, ada)
    signed_in(shared, ada)
    assert shared.post(PURGE, json={"ids": []}, headers={CSRF_HEADER: other}).status_code == 403


def test_a_form_may_carry_the_token_in_a_field(shared: TestClient, ada: str) -> None:
    token = signed_in(shared, ada)
    assert shared.post("/sign-out", data={CSRF_FIELD: "wrong"}, follow_redirects=False).status_code == 403
    assert shared.post("/sign-out", data={CSRF_FIELD: token}, follow_redirects=False).status_code == 303


@pytest.mark.parametrize(
    ("scopes", "looks", "changes"), [(("read",), 200, 403), (("write",), 403, 200), (("read", "write"), 200, 200)]
)
def test_a_token_may_do_what_it_is_for(
    shared: TestClient, ada: str, scopes: tuple[Scope, ...], looks: int, changes: int
) -> None:
    headers = bearer(shared, ada, *scopes)
    assert shared.get(ITEMS, headers=headers).status_code == looks
    assert shared.post(PURGE, json={"ids": []}, headers=headers).status_code == changes


def test_a_bad_token_is_not_made_good_by_a_cookie(shared: TestClient, ada: str) -> None:
    signed_in(shared, ada)
    assert shared.get(ITEMS, headers={"authorization": "Bearer pk_wrong"}).status_code == 401
    assert shared.get(ITEMS, headers={"authorization": "Bearer"}).status_code == 401


def test_what_a_proxy_in_front_asks_for_is_not_a_token(shared: TestClient, ada: str) -> None:
    signed_in(shared, ada)
    assert shared.get(ITEMS, headers={"authorization": "Basic YWRhOng="}).status_code == 200


def test_a_disabled_user_is_out_at_once(shared: TestClient, ada: str) -> None:
    headers = bearer(shared, ada)
    signed_in(shared, ada)
    app.set_disabled(service_of(shared).accounts, "ada", True)
    assert shared.get(ITEMS).status_code == 401
    assert shared.get(ITEMS, headers=headers).status_code == 401


def test_on_a_server_for_this_machine_alone_a_token_counts_for_what_it_is(client: TestClient) -> None:
    assert client.post(PURGE, json={"ids": []}, headers=bearer(client, "local", "read")).status_code == 403
    assert client.get(ITEMS, headers=bearer(client, "local", "read")).status_code == 200
    assert client.get(ITEMS, headers={"authorization": "Bearer pk_wrong"}).status_code == 401
    assert client.get(ITEMS, headers=bearer(client, "someone else")).status_code == 401


def test_the_machines_own_user_is_whom_the_settings_name(settings: Settings, serve: Callable[..., TestClient]) -> None:
    client = serve(replace(settings, user="keeper"))
    assert client.get(ITEMS, headers=bearer(client, "keeper")).status_code == 200
    assert client.get(ITEMS, headers=bearer(client, "local")).status_code == 401


def test_where_there_are_users_they_sign_in_whatever_the_settings_say(
    settings: Settings, serve: Callable[..., TestClient]
) -> None:
    first = serve(settings)
    assert first.get(ITEMS).status_code == 200
    app.add_user(service_of(first).accounts, "ada", PASSWORD)
    assert serve(settings).get(ITEMS).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
    ],
)
def test_a_session_is_not_for_other_sites(shared: TestClient, ada: str, headers: dict[str, str]) -> None:
    token = signed_in(shared, ada)
    assert shared.get(ITEMS, headers=headers).status_code == 403
    assert shared.post(PURGE, json={"ids": []}, headers={**headers, CSRF_HEADER: token}).status_code == 403


def test_a_link_from_another_site_may_be_followed_but_sends_no_form(shared: TestClient, ada: str) -> None:
    token = signed_in(shared, ada)
    follows = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert shared.get(ITEMS, headers=follows).status_code == 200
    by_our_worker = {**follows, "sec-fetch-dest": "empty"}  # a service worker passes a link on like this
    assert shared.get(ITEMS, headers=by_our_worker).status_code == 200
    assert shared.post(PURGE, json={"ids": []}, headers={**follows, CSRF_HEADER: token}).status_code == 403


def test_our_own_pages_may_ask_behind_a_proxy_that_speaks_https(shared: TestClient, ada: str) -> None:
    signed_in(shared, ada)
    own = {"origin": "https://127.0.0.1:8470", "sec-fetch-site": "same-origin"}
    assert shared.get(ITEMS, headers=own).status_code == 200
