"""The headers are on every answer, also on those of routes that fail."""

from __future__ import annotations

import asyncio
import logging

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from pagekeep.doors.http.middleware.headers import SecurityHeaders


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()

    @app.get("/fails")
    def fails() -> None:
        raise RuntimeError("the password is swordfish")

    @app.get("/stopped")
    async def stopped() -> None:
        raise asyncio.CancelledError  # as uvicorn cancels what runs too long when it stops

    app.add_middleware(SecurityHeaders)
    return TestClient(app)


def test_a_route_that_fails_is_reported_in_the_log_and_not_to_the_reader(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "pagekeep.server"):
        answer = client.get("/fails")
    assert answer.status_code == 500
    assert answer.json()["error"]["type"] == "Unexpected"
    assert "swordfish" not in answer.text
    assert "swordfish" in caplog.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, no-cache"


def test_a_request_that_a_stop_cuts_short_is_answered(client: TestClient) -> None:
    answer = client.get("/stopped")
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "ServerStopped"
    assert "in the queue" in answer.json()["error"]["suggestions"][0]
    assert int(answer.headers["retry-after"]) > 0
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_no_two_answers_have_the_same_nonce(client: TestClient) -> None:
    policies = {client.get("/nowhere").headers["content-security-policy"] for _ in range(3)}
    assert len(policies) == 3
