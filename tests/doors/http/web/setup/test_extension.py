"""The extension's page, its packages and its pairing."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from fastapi.testclient import TestClient

from pagekeep.doors.http.caller import CSRF_FIELD, csrf_token
from pagekeep.identity import accounts as app
from pagekeep.identity import grants
from tests.doors.http.conftest import PASSWORD, service_of

VERIFIER = "v" * 43
ASKED = {"challenge": grants.challenge_of(VERIFIER), "client": "Chromium"}


def exchange(client: TestClient, code: str, verifier: str = VERIFIER) -> int:
    return client.post("/api/v1/tokens/pairing", json={"code": code, "verifier": verifier}).status_code


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_the_extension_is_downloaded_from_the_server(client: TestClient, browser: str) -> None:
    page = client.get("/settings/extension").text
    assert f"/settings/extension/{browser}.zip" in page
    with zipfile.ZipFile(io.BytesIO(client.get(f"/settings/extension/{browser}.zip").content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert "lib/pairing.js" in archive.namelist()
    assert ("browser_specific_settings" in manifest) == (browser == "firefox")


def test_a_confirmed_code_gives_a_token_once(client: TestClient) -> None:
    assert "Chromium" in client.get("/pair", params=ASKED).text
    answer = client.post("/pair", data=ASKED, follow_redirects=False)
    path, _, code = answer.headers["location"].partition("#code=")
    assert (answer.status_code, path, answer.headers["cache-control"]) == (303, "/pair/done", "no-store")
    assert exchange(client, code, "w" * 43) == 401
    made = client.post("/api/v1/tokens/pairing", json={"code": code, "verifier": VERIFIER})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    bearer = {"authorization": f"Bearer {made.json()['secret']}"}
    assert client.get("/api/v1/items", headers=bearer).status_code == 200
    assert exchange(client, code) == 401


def test_a_code_opens_nothing_itself(client: TestClient) -> None:
    code = client.post("/pair", data=ASKED, follow_redirects=False).headers["location"].partition("#code=")[2]
    for secret in (code, f"pairing {code} {ASKED['challenge']}"):
        assert client.get("/api/v1/items", headers={"authorization": f"Bearer {secret}"}).status_code in (401, 403)


def test_other_sites_cannot_confirm_or_frame(client: TestClient) -> None:
    cross = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.post("/pair", data=ASKED, headers=cross).status_code == 403
    page = client.get("/pair", params=ASKED)
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-store"


def test_on_a_shared_server_the_user_signs_in_and_the_form_is_checked(shared: TestClient) -> None:
    people = {"accept": "text/html"}
    answer = shared.get("/pair", params=ASKED, headers=people, follow_redirects=False)
    assert answer.headers["location"].startswith("/sign-in?back=%2Fpair%3Fchallenge")
    user = app.add_user(service_of(shared).accounts, "ada", PASSWORD)
    shared.post("/sign-in", data={"name": "ada", "password": PASSWORD})
    assert "signed in as <strong>ada</strong>" in shared.get("/pair", params=ASKED).text
    assert shared.post("/pair", data=ASKED).status_code == 403
    own = {CSRF_FIELD: csrf_token(service_of(shared), shared.cookies["pagekeep_session"])}
    answer = shared.post("/pair", data={**ASKED, **own}, follow_redirects=False)
    shared.cookies.clear()
    code = answer.headers["location"].partition("#code=")[2]
    made = shared.post("/api/v1/tokens/pairing", json={"code": code, "verifier": VERIFIER}).json()
    assert [token.name for token in app.get_tokens(service_of(shared).accounts, user.id)] == [made["token"]["name"]]


@pytest.mark.parametrize("challenge", ["", "short", "<script>" + "x" * 35])
def test_a_link_that_the_extension_did_not_make_is_refused(client: TestClient, challenge: str) -> None:
    answer = client.get("/pair", params={"challenge": challenge}, headers={"accept": "text/html"})
    assert answer.status_code == 422
    assert "<script>x" not in answer.text


@pytest.mark.parametrize("named", ["<b>Pagekeep</b>", "Chromium. Your bank asks you to confirm"])
def test_a_link_writes_no_own_text_into_our_page(client: TestClient, named: str) -> None:
    page = client.get("/pair", params={**ASKED, "client": named})
    assert "<strong>this browser</strong>" in page.text
    assert "bank" not in page.text
