"""How often a token may be used, and what programs of each dialect are answered."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http import user_limits
from pagekeep.doors.http.user_limits import TokenRates
from pagekeep.errors import TooManyRequests
from pagekeep.identity import accounts
from tests.doors.http.conftest import PASSWORD, service_of


def refused(rates: TokenRates, token: str) -> int:
    """Return the seconds to wait, 0 when the request is allowed."""
    try:
        rates.take(token)
    except TooManyRequests as error:
        return error.seconds
    return 0


def test_requests_come_back_with_time() -> None:
    now = [0.0]
    rates = TokenRates(30, lambda: now[0])
    assert [refused(rates, "a") for _ in range(31)] == [0] * 30 + [2]
    assert refused(rates, "b") == 0, "each token has its own"
    now[0] = 1.0
    assert refused(rates, "a") == 1
    now[0] = 2.0
    assert [refused(rates, "a"), refused(rates, "a")] == [0, 2]
    now[0] = 1_000.0
    assert [refused(rates, "a") for _ in range(31)] == [0] * 30 + [2], "never more than in a minute"


def test_without_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = TokenRates(0)
    assert not any(refused(rates, "a") for _ in range(1_000))
    monkeypatch.setattr(user_limits, "MAX_TOKENS", 2)
    few = TokenRates(1)
    assert [refused(few, name) for name in "abca"] == [0] * 4, "the one used longest ago is forgotten"


def test_each_dialect_says_so_in_its_own_shape(settings: Settings, serve: Callable[..., TestClient]) -> None:
    client = serve(replace(settings, shared=True, token_requests=2))
    service = service_of(client)
    user = accounts.add_user(service.accounts, "ada", PASSWORD)
    paths = {
        "wallabag": "/wallabag/api/entries",
        "linkding": "/linkding/api/bookmarks/",
        "opds": "/opds",
        None: "/api/v1/items",
    }
    bodies = {}
    for dialect, path in paths.items():
        scopes = ("read", dialect) if dialect else ("read",)
        secret = accounts.add_token(service.accounts, user.id, "program", scopes).secret
        basic = base64.b64encode(f"ada:{secret}".encode()).decode()
        headers = {"authorization": f"Basic {basic}" if dialect == "opds" else f"Bearer {secret}"}
        answers = [client.get(path, headers=headers) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert 1 <= int(answers[2].headers["retry-after"]) <= 30
        bodies[dialect] = answers[2].json()
    assert bodies["wallabag"]["error"] == "too_many_requests"
    assert bodies["linkding"]["detail"].startswith("Too many requests")
    assert bodies["opds"]["status"] == 429
    assert bodies[None]["error"]["type"] == "TooManyRequests"


def test_a_program_that_signed_in_has_a_limit_too(settings: Settings, serve: Callable[..., TestClient]) -> None:
    client = serve(replace(settings, shared=True, token_requests=1))
    accounts.add_user(service_of(client).accounts, "ada", PASSWORD)
    sent = {"grant_type": "password", "client_id": "1", "client_secret": "2", "username": "ada", "password": PASSWORD}
    token = client.post("/wallabag/oauth/v2/token", json=sent).json()["access_token"]
    headers = {"authorization": f"Bearer {token}"}
    assert [client.get("/wallabag/api/tags", headers=headers).status_code for _ in range(2)] == [200, 429]
