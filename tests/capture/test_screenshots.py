"""Pictures for several people."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pagekeep.capture.screenshots import Screenshots
from pagekeep.errors import FetchTimeout


class Browser:
    """Pictures a page on request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float]] = []
        self.ready = asyncio.Event()

    async def screenshot(self, url: str, _part: str, *, timeout: float, **_: Any) -> str:
        self.asked.append((url, timeout))
        await self.ready.wait()
        return f"a picture of {url}"


@pytest.mark.parametrize(("shared", "begun"), [(True, ["a", "c"]), (False, ["a", "b"])])
def test_on_a_shared_server_no_user_has_all_places(shared: bool, begun: list[str]) -> None:
    async def run() -> None:
        browser = Browser()
        screenshots = Screenshots(browser, 2, shared=shared)  # type: ignore[arg-type]
        asking = [("ada", "a"), ("ada", "b"), ("grace", "c")]
        asked = [asyncio.create_task(screenshots.take(user, url, "window", timeout=20)) for user, url in asking]
        for _ in range(5):
            await asyncio.sleep(0)
        assert [url for url, _ in browser.asked] == begun
        browser.ready.set()
        assert await asyncio.gather(*asked) == [f"a picture of {url}" for url in "abc"]

    asyncio.run(run())


def test_the_wait_for_a_turn_counts_in_the_callers_time() -> None:
    async def run() -> None:
        browser = Browser()
        screenshots = Screenshots(browser, 1, shared=True)  # type: ignore[arg-type]
        first = asyncio.create_task(screenshots.take("ada", "a", "window", timeout=20))
        await asyncio.sleep(0)
        with pytest.raises(FetchTimeout, match="busy"):
            await screenshots.take("grace", "b", "window", timeout=0.01)
        late = asyncio.create_task(screenshots.take("grace", "c", "window", timeout=20))
        await asyncio.sleep(0.05)
        browser.ready.set()
        await asyncio.gather(first, late)
        assert browser.asked[0][1] > browser.asked[1][1] <= 20 - 0.05
        assert [url for url, _ in browser.asked] == ["a", "c"]

    asyncio.run(run())
