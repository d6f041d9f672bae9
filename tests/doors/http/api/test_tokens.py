"""Tokens over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient


def test_a_token_is_shown_once_lets_in_and_is_revoked(client: TestClient) -> None:
    made = client.post("/api/v1/tokens", json={"name": "phone", "scopes": ["read"]})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret, token = made.json()["secret"], made.json()["token"]
    assert token["name"] == "phone"
    assert secret not in client.get("/api/v1/tokens").text
    bearer = {"authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/items", headers=bearer).status_code == 200
    assert client.post("/api/v1/saves", json={"url": "https://example.com/"}, headers=bearer).status_code == 403
    assert client.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    assert client.get("/api/v1/items", headers=bearer).status_code == 401


def test_no_token_sees_makes_or_revokes_tokens(client: TestClient) -> None:
    made = client.post("/api/v1/tokens", json={"name": "phone", "scopes": ["read", "write"]}).json()
    bearer = {"authorization": f"Bearer {made['secret']}"}
    assert client.get("/api/v1/tokens", headers=bearer).status_code == 403
    assert client.post("/api/v1/tokens", json={"name": "more"}, headers=bearer).status_code == 403
    assert client.delete(f"/api/v1/tokens/{made['token']['id']}", headers=bearer).status_code == 403
