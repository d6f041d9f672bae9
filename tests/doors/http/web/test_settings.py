"""The look and the account."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.caller import CSRF_FIELD, csrf_token
from pagekeep.identity import accounts as app
from tests.doors.http.conftest import PASSWORD, service_of


def test_the_look_is_kept_in_a_cookie(client: TestClient) -> None:
    client.post("/settings/look", data={"theme": "sepia", "size": "5"})
    client.post("/settings/look", data={"theme": "neon", "width": "wide"})
    assert client.cookies["pagekeep_look"] == "sepia.5.wide.serif"
    page = client.get("/settings").text
    assert 'data-theme="sepia" data-size="5" data-width="wide" data-font="serif"' in page


def test_a_cookie_that_makes_no_sense_is_the_usual_look(client: TestClient) -> None:
    client.cookies["pagekeep_look"] = 'x" onload=alert(1).9'
    assert 'data-theme="auto" data-size="3" data-width="medium" data-font="serif"' in client.get("/settings").text


@pytest.fixture
def ada(shared: TestClient) -> TestClient:
    """A user who is signed in."""
    app.add_user(service_of(shared).accounts, "ada", PASSWORD)
    shared.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    return shared


def own(client: TestClient, **form: str) -> dict[str, str]:
    return {**form, CSRF_FIELD: csrf_token(service_of(client), client.cookies["pagekeep_session"])}


def test_a_user_who_changes_the_password_stays_signed_in_here_alone(ada: TestClient) -> None:
    accounts = service_of(ada).accounts
    user = app.find_user(accounts, "ada")
    elsewhere = app.open_session(accounts, user.id)
    asked = own(ada, old=PASSWORD, new="ten kettles and no stove", again="ten kettles and no stove")
    page = ada.post("/settings/password", data=asked).text
    assert "Password changed." in page
    assert app.session_user(accounts, elsewhere) is None
    assert app.sign_in(accounts, "ada", "ten kettles and no stove", "::1").user == app.find_user(accounts, "ada")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"old": "no idea at all", "new": "x" * 12, "again": "x" * 12}, "The old password is wrong."),
        ({"old": PASSWORD, "new": "x" * 12, "again": "y" * 12}, "The new passwords do not match."),
        ({"old": PASSWORD, "new": "short", "again": "short"}, "The password is too short."),
    ],
)
def test_a_password_that_cannot_be_set_says_why_and_the_old_one_stays(
    ada: TestClient, asked: dict[str, str], said: str
) -> None:
    answer = ada.post("/settings/password", data=own(ada, **asked))
    assert answer.status_code == 403
    assert said in answer.text
    assert app.sign_in(service_of(ada).accounts, "ada", PASSWORD, "::1")


def test_one_signs_out_elsewhere_from_here(ada: TestClient) -> None:
    accounts = service_of(ada).accounts
    elsewhere = app.open_session(accounts, app.find_user(accounts, "ada").id)
    page = ada.get("/settings/account").text
    [path] = re.findall(r'action="(/settings/sessions/\w+/end)"', page)  # the one that is here is not offered
    ada.post(path, data=own(ada))
    assert app.session_user(accounts, elsewhere) is None
    assert "Active sessions" in ada.get("/settings/account").text


def test_where_users_do_not_sign_in_there_is_no_account(client: TestClient) -> None:
    page = client.get("/settings/account").text
    assert "password" not in page.lower()
    assert "for you alone" in page
