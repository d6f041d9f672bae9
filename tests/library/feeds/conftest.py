"""A library with a feed, and a way to run use cases that fetch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import Feed, FeedSettings
from pagekeep.store import Store

T = TypeVar("T")
Run = Callable[..., Any]


@pytest.fixture
def run(settings: Settings) -> Run:
    """Runs a function that takes a retrieval as its last argument."""

    def call(function: Callable[..., Awaitable[T]], *args: Any, **how: Any) -> T:
        async def inside() -> T:
            async with Retrieval(settings) as retrieval:
                return await function(*args, retrieval, **how)

        return asyncio.run(asyncio.wait_for(inside(), 60))

    return call


@pytest.fixture
def feed(library: Store) -> Feed:
    """A web feed whose items get a tag."""
    return add_feed(library, "https://example.com/feed", settings=FeedSettings(tags=("sea",)))[0]
