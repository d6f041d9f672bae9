"""The official client at a running server: by token, each at their own library."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.doors.mcp.tool_calls import unquote
from pagekeep.identity import accounts
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import cancel_crawl, start_crawl
from pagekeep.model import Scope
from pagekeep.store import open_accounts, open_store
from tests.site.fixtures import article
from tests.store.making import make_item, make_raw
from tests.store.rows import all_rows

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True)
class Running:
    url: str
    tokens: dict[str, str]
    library: str


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A shared server with two people, each with their own page, and tokens for both."""
    where = str(tmp_path / "library.db")
    tokens: dict[str, str] = {}
    with closing(open_accounts(where)) as known:
        for name in ("ada", "ben"):
            user = accounts.add_user(known, name, "a long enough password")
            with closing(open_store(where, user.id)) as store:
                store.items.save(
                    make_item(1, title=f"Page of {name}", content=f"Lamps of {name}.", user_id=user.id),
                    make_raw(article(300).encode()),
                )
                crawl = start_crawl(store, CrawlOptions((f"https://{name}.example/",)))
                cancel_crawl(store, crawl.id)
            scopes: tuple[Scope, ...] = ("read", "write") if name == "ada" else ("read",)
            tokens[name] = accounts.add_token(known, user.id, "assistant", scopes).secret
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    app = create_app(Settings(library=where, shared=True), processes=1)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    deadline = monotonic() + 20
    while not server.started and monotonic() < deadline:
        sleep(0.05)
    yield Running(f"http://127.0.0.1:{port}/mcp/", tokens, where)
    server.should_exit = True
    thread.join(20)


@asynccontextmanager
async def connected(running: Running, name: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {running.tokens[name]}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(running.url, http_client=http)) as client,
    ):
        yield client


async def found(client: Client) -> list[str]:
    answer = await client.call_tool("search", {"query": "lamps"})
    assert answer.structured_content is not None
    return [unquote(one["title"]) for one in answer.structured_content["results"]]


async def test_each_token_opens_its_owners_library_alone(running: Running) -> None:
    async with connected(running, "ada") as ada, connected(running, "ben") as ben:
        assert await found(ada) == ["Page of ada"]
        assert await found(ben) == ["Page of ben"]
        assert await found(ada) == ["Page of ada"]


async def test_a_token_that_may_only_read_changes_nothing(running: Running) -> None:
    async with connected(running, "ben") as ben, connected(running, "ada") as ada:
        for client, may in ((ben, False), (ada, True)):
            listed = await client.call_tool("list_items", {})
            assert listed.structured_content is not None
            key = listed.structured_content["results"][0]["id"]
            answer = await client.call_tool("tag_item", {"key": key, "add": ["x"]})
            assert answer.is_error is not may


async def test_reading_with_a_read_only_token_changes_nothing(running: Running) -> None:
    async with connected(running, "ben") as ben:
        listed = await ben.call_tool("list_items", {})
        assert listed.structured_content is not None
        key = listed.structured_content["results"][0]["id"]
        before = all_rows(running.library)
        assert any(key in row for row in before)
        calls: dict[str, list[dict[str, object]]] = {
            "search": [{"query": "lamps"}],
            "list_items": [{}],
            "read": [{"key": key}, {"key": key, "outline": True}],
            "get_metadata": [{"key": key}],
            "fetch": [{"id": key}],
            "history": [{"key": key}],
            "read_version": [{"key": key}],
            "diff": [{"key": key, "before": 1}],
            "changes": [{}],
            "feed_inbox": [{}, {"state": "all", "feed": "none"}],
            "crawl_status": [{}, {"crawl": "https://ben.example/"}],
            "list_crawl_pages": [{"crawl": "https://ben.example/"}],
            "read_crawl_page": [{"crawl": "https://ben.example/", "number": 1}],
            "map_site": [{"url": "http://127.0.0.1/"}],
        }
        refused = {"read_crawl_page", "map_site"}  # there is no such page, and it is a private address
        reading = {
            tool.name
            for tool in (await ben.list_tools()).tools
            if tool.annotations is not None and tool.annotations.read_only_hint
        }
        assert reading == set(calls)
        for tool, arguments in calls.items():
            for one in arguments:
                assert bool((await ben.call_tool(tool, one)).is_error) is (tool in refused)
        await ben.read_resource(f"pagekeep://item/{key}")
        assert all_rows(running.library) == before


async def test_crawls_are_their_owners_alone(running: Running) -> None:
    async with connected(running, "ada") as ada, connected(running, "ben") as ben:
        listed = await ben.call_tool("crawl_status", {})
        assert listed.structured_content is not None
        (crawl,) = listed.structured_content["crawls"]
        assert crawl["url"] == "https://ben.example/"
        for key in (crawl["id"], crawl["url"]):
            for tool in ("crawl_status", "list_crawl_pages", "cancel_crawl"):
                assert (await ada.call_tool(tool, {"crawl": key})).is_error
        assert (await ben.call_tool("start_crawl", {"url": "https://ben.example/"})).is_error
        assert (await ben.call_tool("cancel_crawl", {"crawl": crawl["id"]})).is_error


async def test_reading_with_a_token_that_may_write_marks_the_page_as_opened(running: Running) -> None:
    async with connected(running, "ada") as ada:
        listed = await ada.call_tool("list_items", {})
        assert listed.structured_content is not None
        before = all_rows(running.library)
        await ada.call_tool("read", {"key": listed.structured_content["results"][0]["id"]})
        assert all_rows(running.library) != before


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Authorization": "Basic YTpi"}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example"}, 403),
    ],
)
async def test_no_other_client_gets_in(running: Running, headers: dict[str, str], status: int) -> None:
    token = {"Authorization": f"Bearer {running.tokens['ada']}"} if status == 403 else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(running.url, json=body, headers={**token, **headers})
    assert answer.status_code == status
