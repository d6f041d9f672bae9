"""`/readyz` is honest about the library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.library.queue import background
from pagekeep.store import sqlite
from tests.store.damage import flip_pages, make_library, pages_of

Serve = Callable[..., TestClient]


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(background, "PROBE_SHARE", 0)


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
    monkeypatch.setattr(background, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(sqlite, "MIN_FREE_BYTES", 1 << 62)
    assert "full" in client.get("/readyz").json()["error"]["message"]


def test_the_result_is_kept_for_some_seconds(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PROBE_SECONDS", 600.0)
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(sqlite, "is_writable", lambda _: False)
    assert client.get("/readyz").status_code == 200
