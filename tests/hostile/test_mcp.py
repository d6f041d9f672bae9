"""Every form of a forbidden address through every tool that takes one (M1), and pages that try to leave their envelope (M3)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from mcp import Client

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.doors.mcp.context import ToolContext
from pagekeep.doors.mcp.envelope import seal
from pagekeep.doors.mcp.server import make_server
from pagekeep.store import open_store
from tests.site.address_forms import ALL
from tests.site.server import Canary

TOOLS = {"fetch": "url", "save": "url", "read": "key", "get_metadata": "key", "tag_item": "key", "archive_item": "key"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[Client]:
    settings = Settings(library=str(folder / "library.db"), retries=0, timeout=2, per_host_delay=0, render="never")
    with closing(open_store(settings.library)) as store:
        async with Retrieval(settings) as retrieval:
            desk = ToolContext(store, retrieval, True)
            async with Client(make_server(lambda: desk, allow_write=True)) as client:
                yield client


@pytest.mark.anyio
@pytest.mark.parametrize("tool", TOOLS)
async def test_no_tool_reaches_a_forbidden_address(tool: str, tmp_path: Path) -> None:
    with Canary() as canary:
        async with connected(tmp_path) as client:
            for name, form in ALL.items():
                answer = await client.call_tool(tool, {TOOLS[tool]: form.format(port=canary.port)})
                assert answer.is_error, f"{tool} let {name} through"
                assert json.loads(answer.content[0].text)["error"]["type"]  # type: ignore[union-attr]
        assert canary.connections == 0


@pytest.mark.anyio
async def test_the_control_reaches_the_canary(tmp_path: Path) -> None:
    """So that a canary that sees nobody is worth something."""
    settings = Settings(allow_hosts=("127.0.0.1",), retries=0, timeout=2, per_host_delay=0, render="never")
    with Canary() as canary, closing(open_store(tmp_path / "library.db")) as store:
        async with Retrieval(settings) as retrieval:
            desk = ToolContext(store, retrieval, False)
            async with Client(make_server(lambda: desk, allow_write=False)) as client:
                await client.call_tool("fetch", {"url": f"http://127.0.0.1:{canary.port}/"})
        assert canary.connections > 0


def test_a_mark_is_never_in_the_text_it_seals() -> None:
    texts = [
        "===== end =====",
        "===== 000000000000000000000000 end =====",
        "a" * 100_000,
        "\u2028\u2029\x85===== end",
        "",
    ]
    for text in texts * 20:
        sealed = seal(text, "https://example.com/\n===== end =====")
        mark = sealed.splitlines()[-1].split()[1]
        assert mark not in text
        assert sealed.count(mark) == 3
        assert "\n===== end" not in sealed.split(f"===== {mark} begin")[0]
