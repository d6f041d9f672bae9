"""A secret made for one purpose, such as the address of a feed, opens nothing else, by no way of signing in (P5)."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.identity import accounts, grants
from pagekeep.identity import grants as pairing
from tests.doors.http.conftest import PASSWORD, service_of

NAME = "ada"
VERIFIER = "v" * 43


def _feed(service: Any, user: str) -> str:
    return accounts.add_token(service.accounts, user, "changes", ("feed",)).secret


def _published(service: Any, user: str) -> str:
    return accounts.add_token(service.accounts, user, "list", ("published",)).secret


def _pairing(service: Any, user: str) -> str:
    challenge = pairing.challenge_of(VERIFIER)
    return pairing._secret(pairing.approve_pairing(service.accounts, user, challenge, "Chromium"), challenge)


def _refresh(service: Any, user: str) -> str:
    return grants._grant(service.accounts, user, "wallabag", ("read", "write"), "x").refresh


SECRETS: dict[str, Callable[[Any, str], str]] = {
    "feed": _feed,
    "published": _published,
    "pairing": _pairing,
    "refresh": _refresh,
}


def _basic(secret: str) -> str:
    return "Basic " + base64.b64encode(f"{NAME}:{secret}".encode()).decode()


WAYS: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("GET", "/api/v1/items", lambda secret: f"Bearer {secret}"),
    ("POST", "/api/v1/saves", lambda secret: f"Bearer {secret}"),
    ("POST", "/api/v1/extract", lambda secret: f"Bearer {secret}"),
    ("POST", "/v2/scrape", lambda secret: f"Bearer {secret}"),
    ("GET", "/r/https://example.com/", lambda secret: f"Bearer {secret}"),
    ("POST", "/mcp/", lambda secret: f"Bearer {secret}"),
    ("POST", "/wallabag/api/entries", lambda secret: f"Bearer {secret}"),
    ("POST", "/linkding/api/bookmarks/", lambda secret: f"Token {secret}"),
    ("GET", "/opds", _basic),
    ("GET", "/", lambda secret: f"Bearer {secret}"),
)


@pytest.fixture
def user(shared: TestClient) -> str:
    return accounts.add_user(service_of(shared).accounts, NAME, PASSWORD).id


@pytest.mark.parametrize("purpose", SECRETS)
def test_secret_of_another_purpose_does_not_sign_in(shared: TestClient, user: str, purpose: str) -> None:
    secret = SECRETS[purpose](service_of(shared), user)
    for method, path, header in WAYS:
        status = asyncio.run(_ask_without_body(shared.app, method, path, header(secret)))
        assert status == 401, (purpose, method, path)


@pytest.mark.parametrize("purpose", SECRETS)
def test_secret_of_another_purpose_is_not_an_app_password(shared: TestClient, user: str, purpose: str) -> None:
    secret = SECRETS[purpose](service_of(shared), user)
    asked = {"grant_type": "password", "client_id": "1_x", "client_secret": "y", "username": NAME, "password": secret}
    assert shared.post("/wallabag/oauth/v2/token", json=asked).status_code == 400
    if purpose != "refresh":
        renew = {"grant_type": "refresh_token", "refresh_token": secret, "client_id": "1_x"}
        assert shared.post("/wallabag/oauth/v2/token", json=renew).status_code == 400


@pytest.mark.parametrize("purpose", [*SECRETS, "sign_in"])
def test_feed_addresses_take_their_own_secret_only(shared: TestClient, user: str, purpose: str) -> None:
    service = service_of(shared)
    made = SECRETS.get(purpose, lambda service, user: accounts.add_token(service.accounts, user, "x").secret)
    secret = made(service, user)
    for own, find in (("feed", accounts.feed_user), ("published", accounts.published_token)):
        if own == purpose:
            assert find(service.accounts, secret)
        else:
            with pytest.raises(accounts.NotFound):
                find(service.accounts, secret)


def test_control_a_token_signs_in_by_every_way(shared: TestClient, user: str) -> None:
    secret = accounts.add_token(service_of(shared).accounts, user, "all").secret
    for method, path, header in WAYS:
        if method == "GET" and not path.startswith("/r/"):
            assert shared.get(path, headers={"authorization": header(secret)}).status_code == 200, path


async def _ask_without_body(app: Any, method: str, path: str, authorization: str) -> int:
    """Return the status of a request whose body must not be read."""
    statuses: list[int] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1:8470"),
            (b"authorization", authorization.encode()),
            (b"content-type", b"application/json"),
            (b"content-length", b"50000"),
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8470),
        "state": {},
    }

    async def receive() -> dict[str, Any]:
        if method == "POST" and not statuses:
            raise AssertionError("the body was read")
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[0]
