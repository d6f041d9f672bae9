"""Tokens and app passwords."""

from __future__ import annotations

import re

import segno
from fastapi.testclient import TestClient

from tests.doors.http.conftest import service_of


def test_a_token_is_shown_once_works_and_is_revoked(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Extension", "scope": "read"})
    assert made.headers["cache-control"] == "no-store"
    [secret] = re.findall(r"pk_[\w-]+", made.text)
    assert secret not in client.get("/settings/tokens").text
    bearer = {"authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/items", headers=bearer).status_code == 200
    [token] = service_of(client).accounts.tokens("local")
    client.post(f"/settings/tokens/{token.id}/revoke")
    assert client.get("/api/v1/items", headers=bearer).status_code == 401


def test_a_new_token_has_a_qr_code_of_itself_and_a_button_to_copy_it(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Phone"}).text
    [secret] = re.findall(r"pk_[\w-]+", made)
    [path] = re.findall(r' d="([^"]+)"', made[made.index('class="qr"') :])[:1]
    [expected] = re.findall(r' d="([^"]+)"', segno.make(secret, error="m", micro=False).svg_inline(border=4))
    assert path == expected
    assert 'data-copy-from="secret"' in made
    assert "style=" not in made


def test_an_app_password_shows_what_to_enter_in_the_app(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Reader", "dialect": "wallabag"}).text
    assert "http://127.0.0.1:8470/wallabag" in made
    [token] = service_of(client).accounts.tokens("local")
    assert token.dialect == "wallabag"


def test_a_token_without_a_name_says_why(client: TestClient) -> None:
    answer = client.post("/settings/tokens", data={"name": " "})
    assert answer.status_code == 403
    assert "A token needs a name" in answer.text


def test_no_token_makes_or_sees_others(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Extension"})
    bearer = {"authorization": f"Bearer {re.findall(r'pk_[A-Za-z0-9_-]+', made.text)[0]}"}
    assert client.post("/settings/tokens", data={"name": "Another"}, headers=bearer).status_code == 403
    assert client.post("/pair", data={"challenge": "x" * 43}, headers=bearer).status_code == 403
    assert "Extension</th>" not in client.get("/settings/tokens", headers=bearer).text
