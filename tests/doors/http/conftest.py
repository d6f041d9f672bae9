"""A server in this process, and a site for it to save pages from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parents[3]))  # for `tests.app`, whichever way pytest was started

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.store import Store, open_store
from tests.app.conftest import shore

__all__ = ["shore"]
LOCAL = "http://127.0.0.1:8470"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        library=str(tmp_path / "library.db"),
        rules=str(tmp_path / "rules"),
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        timeout=10,
        retries=0,
        render="never",
    )


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        yield client


@pytest.fixture
def library(settings: Settings) -> Iterator[Store]:
    """The local user's library, as another process would open it."""
    with closing(open_store(settings.library)) as store:
        yield store
