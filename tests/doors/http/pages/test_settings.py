"""The look and the tokens."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from tests.doors.http.conftest import service_of


def test_the_look_is_kept_in_a_cookie(client: TestClient) -> None:
    client.post("/settings/look", data={"theme": "sepia", "size": "5"})
    client.post("/settings/look", data={"theme": "neon", "width": "wide"})
    assert client.cookies["pagekeep_look"] == "sepia.5.wide.serif"
    page = client.get("/settings").text
    assert 'data-theme="sepia" data-size="5" data-width="wide" data-face="serif"' in page


def test_a_cookie_that_makes_no_sense_is_the_usual_look(client: TestClient) -> None:
    client.cookies["pagekeep_look"] = 'x" onload=alert(1).9'
    assert 'data-theme="auto" data-size="3" data-width="medium" data-face="serif"' in client.get("/settings").text


def test_a_token_is_shown_once_works_and_is_revoked(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Extension", "scope": "read"})
    assert made.headers["cache-control"] == "no-store"
    [secret] = re.findall(r"pk_[\w-]+", made.text)
    assert secret not in client.get("/settings").text
    bearer = {"authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/items", headers=bearer).status_code == 200
    [token] = service_of(client).accounts.tokens("local")
    client.post(f"/settings/tokens/{token.id}/revoke")
    assert client.get("/api/v1/items", headers=bearer).status_code == 401


def test_no_token_makes_or_sees_others(client: TestClient) -> None:
    made = client.post("/settings/tokens", data={"name": "Extension"})
    bearer = {"authorization": f"Bearer {re.findall(r'pk_[A-Za-z0-9_-]+', made.text)[0]}"}
    assert client.post("/settings/tokens", data={"name": "Another"}, headers=bearer).status_code == 403
    assert "Extension</th>" not in client.get("/settings", headers=bearer).text
