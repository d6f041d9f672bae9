"""Servers in this process: for this machine alone, or for several people; and a site for them to save pages from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.doors.http.service import Service
from pagekeep.identity import accounts as app_accounts
from pagekeep.model import on_demand
from pagekeep.store import Store, open_store
from tests.site.fixtures import shore
from tests.site.sandbox import SANDBOX

__all__ = ["shore"]
LOCAL = "http://127.0.0.1:8470"
PASSWORD = "nine stoves and a kettle"


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real thing is slow on purpose."""
    monkeypatch.setattr(app_accounts, "_hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture(autouse=True)
def _made_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a server: what is made of a page is made in a worker, or the request fails. Ends with the test."""
    monkeypatch.setattr(on_demand, "_refused", False)
    on_demand.refuse_to_make()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Pages of the tests' own sites may be fetched."""
    return Settings(
        browser_sandbox=SANDBOX,
        library=str(tmp_path / "library.db"),
        rules=str(tmp_path / "rules"),
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        timeout=10,
        retries=0,
        render="never",
    )


async def no_wait(_seconds: float, _ending: asyncio.Event) -> None:
    """Refusals are not delayed: some tests get many."""


@pytest.fixture
def serve(shared_workers: None) -> Iterator[Callable[..., TestClient]]:
    """Starts a server; it ends with the test."""
    with ExitStack() as stack:
        yield lambda settings, **how: stack.enter_context(
            TestClient(create_app(settings, processes=1, wait=no_wait), **{"base_url": LOCAL, **how})
        )


@pytest.fixture
def client(settings: Settings, serve: Callable[..., TestClient]) -> TestClient:
    """Asks a server for this machine alone."""
    return serve(settings)


@pytest.fixture
def shared(settings: Settings, serve: Callable[..., TestClient]) -> TestClient:
    """Asks a server for several people; no user is signed in."""
    return serve(replace(settings, shared=True))


@pytest.fixture
def library(settings: Settings) -> Iterator[Store]:
    """The local user's library, as another process would open it."""
    with closing(open_store(settings.library)) as store:
        yield store


def service_of(client: TestClient) -> Service:
    """What the server has."""
    service: Service = client.app.state.service  # type: ignore[attr-defined]
    return service
