from __future__ import annotations

from typing import Any

import httpcore
import pytest

from pagekeep import BlockedAddress
from pagekeep.fetch.backend import GuardedBackend, timings
from pagekeep.fetch.guard import Guard
from tests.site.server import Canary, Site


def test_the_http_library_itself_cannot_reach_a_forbidden_address(canary: Canary, run: Any) -> None:
    async def go() -> None:
        async with httpcore.AsyncConnectionPool(network_backend=GuardedBackend(Guard())) as pool:
            await pool.request("GET", f"http://127.0.0.1:{canary.port}/")

    with pytest.raises(BlockedAddress):
        run(go())
    assert canary.connections == 0


def test_a_local_socket_cannot_be_opened(run: Any) -> None:
    with pytest.raises(NotImplementedError):
        run(GuardedBackend(Guard()).connect_unix_socket("any.sock"))


def test_a_stream_reads_writes_and_knows_when_the_other_side_has_gone(site: Site, run: Any) -> None:
    async def go() -> None:
        stream = await GuardedBackend(Guard(["127.0.0.1"])).connect_tcp("127.0.0.1", site.port)
        await stream.write(b"GET /hang-up HTTP/1.1\r\n\r\n")
        assert not stream.get_extra_info("is_readable")
        assert await stream.read(100) == b""
        assert stream.get_extra_info("is_readable")
        await stream.aclose()
        await stream.aclose()
        with pytest.raises(httpcore.ReadError):
            await stream.read(1)

    run(go())


def test_a_stream_that_was_never_used_can_be_closed(site: Site, run: Any) -> None:
    async def go() -> None:
        stream = await GuardedBackend(Guard(["127.0.0.1"])).connect_tcp("127.0.0.1", site.port)
        await stream.aclose()
        assert stream.get_extra_info("is_readable")

    run(go())


def test_the_time_to_connect_is_noted(site: Site, run: Any) -> None:
    async def go() -> dict[str, float]:
        seconds: dict[str, float] = {}
        timings.set(seconds)
        stream = await GuardedBackend(Guard(["127.0.0.1"])).connect_tcp("127.0.0.1", site.port)
        await stream.aclose()
        return seconds

    assert run(go())["connect"] > 0
