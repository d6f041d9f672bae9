"""Items for the dialects, and the programs of others that speak them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.config import Settings
from pagekeep.doors.http.service import Service
from tests.browser.serving import Server as Running
from tests.store.conftest import server
from tests.store.making import Server

__all__ = ["server"]
TOOLS = Path(__file__).parents[4] / ".dialect-tools" / "bin"


@pytest.fixture
def tools() -> Path:
    """The folder of the other programs; without it, the test is skipped."""
    if not (TOOLS / "python").exists():
        pytest.skip("Clients of the dialects are not installed: scripts/install-dialect-tools gets them.")
    return TOOLS


class Restartable:
    """A shared server that can be ended and started again at the same address, in the middle of a story."""

    def __init__(self, settings: Settings) -> None:
        self._settings = replace(settings, shared=True)
        self._stack = ExitStack()
        self._running = self._stack.enter_context(Running(self._settings))
        self.url = self._running.url

    @property
    def service(self) -> Service:
        """What the server has."""
        service: Service = self._running.app.state.service
        return service

    def restart(self) -> None:
        """End the server and start another one."""
        port = self._running.port
        self.close()
        self._running = self._stack.enter_context(Running(self._settings, port))

    def close(self) -> None:
        """End the server."""
        self._stack.close()


@pytest.fixture(params=["sqlite", "postgres"])
def running(
    request: pytest.FixtureRequest,
    settings: Settings,
    tools: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shared_workers: None,
) -> Iterator[Restartable]:
    """A shared server on either engine, for the programs of others."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if request.param == "postgres":
        database: Server = request.getfixturevalue("server")
        settings = replace(settings, library=database.shared)
    one = Restartable(settings)
    yield one
    one.close()
