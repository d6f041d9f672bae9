"""Signing in and out, as browsers do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.caller import CSRF_FIELD, csrf_token
from pagekeep.identity import accounts as app
from tests.doors.http.conftest import PASSWORD, service_of

ITEMS = "/api/v1/items"
HTML = {"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def browser(shared: TestClient) -> TestClient:
    app.add_user(service_of(shared).accounts, "ada", PASSWORD)
    shared.follow_redirects = False
    return shared


def test_the_password_signs_in_and_the_form_signs_out(browser: TestClient) -> None:
    assert browser.get(ITEMS).status_code == 401
    answer = browser.post("/sign-in", data={"name": "Ada", "password": PASSWORD, "back": "/?q=stove"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=stove")
    assert browser.get(ITEMS).status_code == 200
    session = browser.cookies["pagekeep_session"]
    out = browser.post("/sign-out", data={CSRF_FIELD: csrf_token(service_of(browser), session)})
    assert (out.status_code, out.headers["location"]) == (303, "/sign-in")
    assert '"storage"' in out.headers["clear-site-data"]
    assert browser.get(ITEMS).status_code == 401
    browser.cookies.set("pagekeep_session", session)
    assert browser.get(ITEMS).status_code == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(browser: TestClient) -> None:
    cookie = browser.post("/sign-in", data={"name": "ada", "password": PASSWORD}).headers["set-cookie"].lower()
    assert cookie.startswith("pagekeep_session=")
    for part in ("httponly", "samesite=lax", "path=/", "max-age="):
        assert part in cookie
    assert "secure" not in cookie
    assert "domain" not in cookie


def test_over_https_the_cookie_is_this_hosts_alone(settings: Settings, serve: Callable[..., TestClient]) -> None:
    browser = serve(replace(settings, shared=True), base_url="https://127.0.0.1:8470", follow_redirects=False)
    app.add_user(service_of(browser).accounts, "ada", PASSWORD)
    cookie = browser.post("/sign-in", data={"name": "ada", "password": PASSWORD}).headers["set-cookie"]
    assert cookie.startswith("__Host-pagekeep_session=")
    assert "; Secure" in cookie
    assert browser.get(ITEMS).status_code == 200
    value = browser.cookies["__Host-pagekeep_session"]
    browser.cookies.clear()
    browser.cookies.set("pagekeep_session", value)  # as a neighbour, or an attacker on the wire, could plant it
    assert browser.get(ITEMS).status_code == 401


def test_a_session_that_was_planted_is_not_the_one_signed_in_to(browser: TestClient) -> None:
    accounts = service_of(browser).accounts
    mallory = app.add_user(accounts, "mallory", PASSWORD)
    planted = app.open_session(accounts, mallory.id)
    browser.cookies.set("pagekeep_session", planted)
    browser.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    assert app.session_user(accounts, planted) is None


def test_a_wrong_password_shows_the_form_again_without_it(browser: TestClient) -> None:
    answer = browser.post("/sign-in", data={"name": '"><script>alert(1)</script>', "password": "wrong horse"})
    assert answer.status_code == 401
    assert "Wrong user name or password." in answer.text
    assert "<script>alert" not in answer.text
    assert "wrong horse" not in answer.text
    assert "set-cookie" not in answer.headers


def test_guessing_is_throttled_even_when_the_guess_is_right(browser: TestClient) -> None:
    statuses = [browser.post("/sign-in", data={"name": "ada", "password": f"guess {n}"}).status_code for n in range(6)]
    assert statuses == [401] * 5 + [429]
    assert browser.post("/sign-in", data={"name": "ada", "password": PASSWORD}).status_code == 429


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_no_other_site_can_sign_anyone_in(browser: TestClient, headers: dict[str, str]) -> None:
    answer = browser.post("/sign-in", data={"name": "ada", "password": PASSWORD}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "back", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
)
def test_signing_in_leads_to_no_other_site(browser: TestClient, back: str) -> None:
    answer = browser.post("/sign-in", data={"name": "ada", "password": PASSWORD, "back": back})
    assert answer.headers["location"] == "/"
    assert "evil" not in browser.get("/sign-in", params={"back": back}).text


def test_an_unknown_visitor_of_a_page_is_led_to_it_by_signing_in(browser: TestClient) -> None:
    answer = browser.get("/?tag=sea", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?back=%2F%3Ftag%3Dsea")
    assert browser.get("/", headers={"accept": "application/json"}).status_code == 401
    assert browser.get(ITEMS, headers=HTML).status_code == 401
    assert browser.get(ITEMS, headers={**HTML, "authorization": "Bearer pk_wrong"}).status_code == 401


def test_a_server_for_this_machine_alone_has_no_user_to_sign_in(client: TestClient) -> None:
    client.follow_redirects = False
    assert client.get("/sign-in").headers["location"] == "/"
    assert "set-cookie" not in client.post("/sign-in", data={"name": "ada", "password": PASSWORD}).headers


def test_the_form_is_not_kept_by_the_browser(browser: TestClient) -> None:
    assert browser.get("/sign-in").headers["cache-control"] == "no-store"
