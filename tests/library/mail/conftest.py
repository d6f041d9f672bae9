"""A mailbox on a real server, a library on either engine, and a room of workers for all tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.mail_poll import poll
from pagekeep.library.feeds.mail_sources import add_source, get_source
from pagekeep.model import MailSource
from pagekeep.store import Store, open_store
from pagekeep.workers import Room
from tests.site.imap import ImapServer

Poll = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgres"])
def any_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A library on both engines."""
    place = str(tmp_path / "library.db") if request.param == "sqlite" else request.getfixturevalue("postgres").app
    with closing(open_store(place, f"user-{tmp_path.name}")) as store:
        yield store


@pytest.fixture(scope="session")
def room() -> Iterator[Room]:
    room = Room(1)
    yield room
    room.close()


@pytest.fixture
def mailbox() -> Iterator[ImapServer]:
    with ImapServer() as running:
        yield running


@pytest.fixture
def mail_settings(settings: Settings, mailbox: ImapServer) -> Settings:
    """Settings with the password of the mailbox."""
    return replace(settings, mail_account=f"{mailbox.user}@127.0.0.1", mail_password=mailbox.password)


@pytest.fixture
def subscribe(mailbox: ImapServer, mail_settings: Settings) -> Callable[..., MailSource]:
    """Adds the mailbox as a source."""

    def add(store: Store, *senders: str, **options: Any) -> MailSource:
        options = {"port": mailbox.port, "security": "plain", **options}
        return add_source(store, mail_settings, "127.0.0.1", mailbox.user, senders=senders or ("*",), **options)[0]

    return add


@pytest.fixture
def poll_now(mail_settings: Settings, room: Room) -> Poll:
    """Polls a source, as its job does."""

    def call(store: Store, key: str, settings: Settings | None = None) -> Any:
        async def inside() -> Any:
            async with Retrieval(settings or mail_settings, room=room) as retrieval:
                return await poll(get_source(store, key), store, retrieval)

        return asyncio.run(asyncio.wait_for(inside(), 60))

    return call
