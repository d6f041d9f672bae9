"""`/readyz` is honest about the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.identity import accounts
from pagekeep.library import run_jobs
from pagekeep.store import sqlite
from tests.doors.http.conftest import PASSWORD, service_of
from tests.store.damage import flip_pages, make_library, pages_of

Serve = Callable[..., TestClient]


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_jobs, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(run_jobs, "PROBE_SHARE", 0)


def test_a_damaged_library_is_not_ready(settings: Settings, serve: Serve) -> None:
    path = Path(str(settings.library))
    make_library(path)
    client = serve(settings)
    assert client.get("/readyz").status_code == 200
    flip_pages(path, pages_of(path, "items")[:1])
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "damaged" in answer.json()["error"]["message"]
    assert client.get("/healthz").status_code == 200


def test_a_library_that_cannot_be_written_is_not_ready(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(sqlite, "is_writable", lambda _: False)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "read-only" in answer.json()["error"]["message"]
    monkeypatch.undo()
    monkeypatch.setattr(run_jobs, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(sqlite, "MIN_FREE_BYTES", 1 << 62)
    assert "full" in client.get("/readyz").json()["error"]["message"]


def test_the_result_is_kept_for_some_seconds(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_jobs, "PROBE_SECONDS", 600.0)
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(sqlite, "is_writable", lambda _: False)
    assert client.get("/readyz").status_code == 200


def test_metrics_of_a_shared_server_are_for_its_owner(settings: Settings, serve: Serve) -> None:
    client = serve(replace(settings, shared=True, metrics_token="owner's token"))
    user = accounts.add_user(service_of(client).accounts, "ada", PASSWORD)
    tokens = ("", accounts.add_token(service_of(client).accounts, user.id, "all").secret, "owner", "owner's token ")
    statuses = [client.get("/metrics", headers={"authorization": f"Bearer {token}"}).status_code for token in tokens]
    assert statuses == [403, 403, 403, 200]
    without = serve(replace(settings, shared=True))
    assert without.get("/metrics", headers={"authorization": "Bearer "}).status_code == 403


def test_metrics_of_a_private_server_need_nothing(client: TestClient) -> None:
    assert "pagekeep_" in client.get("/metrics").text
