"""A new password over HTTP."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.caller import CSRF_HEADER, csrf_token
from pagekeep.identity import accounts as app
from tests.doors.http.conftest import PASSWORD, service_of

WHERE = "/api/v1/account/password"
NEW = "ten kettles and no stove"


@pytest.fixture
def ada(shared: TestClient) -> TestClient:
    """Asks as Ada, who is signed in."""
    service = service_of(shared)
    app.add_user(service.accounts, "ada", PASSWORD)
    shared.post("/sign-in", data={"name": "ada", "password": PASSWORD}, follow_redirects=False)
    shared.headers[CSRF_HEADER] = csrf_token(service, shared.cookies["pagekeep_session"])
    return shared


def test_a_new_password_ends_other_sessions_and_gives_a_new_one(ada: TestClient) -> None:
    accounts, before = service_of(ada).accounts, ada.cookies["pagekeep_session"]
    answer = ada.post(WHERE, json={"old": PASSWORD, "new": NEW})
    assert answer.status_code == 204
    assert answer.headers["cache-control"] == "no-store"
    assert app.session_user(accounts, before) is None
    assert ada.cookies["pagekeep_session"] != before
    assert ada.get("/api/v1/items").status_code == 200
    assert app.sign_in(accounts, "ada", NEW, "203.0.113.7").user.name == "ada"


@pytest.mark.parametrize(("old", "new"), [("not it", NEW), (PASSWORD, "short")])
def test_a_wrong_old_or_a_short_new_password_is_refused(ada: TestClient, old: str, new: str) -> None:
    answer = ada.post(WHERE, json={"old": old, "new": new})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert ada.get("/api/v1/items").status_code == 200


def test_no_token_sets_a_password(ada: TestClient) -> None:
    service = service_of(ada)
    user = app.find_user(service.accounts, "ada")
    secret = app.add_token(service.accounts, user.id, "phone").secret
    ada.cookies.clear()
    answer = ada.post(WHERE, json={"old": PASSWORD, "new": NEW}, headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 403


def test_where_users_do_not_sign_in_there_is_no_password(client: TestClient) -> None:
    answer = client.post(WHERE, json={"old": "whatever it was", "new": NEW})
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFound")
