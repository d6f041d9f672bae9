"""H11: a read-only token changes nothing, by any route and any MCP tool, not even "last opened".

    python -m tests.hostile.read_only_tokens [--engine sqlite|postgres|both] [--rounds 20]

Every row of every table is compared before and after, the accounts included. Only the time at which the token itself was last
used may differ; it is stored before the first dump, and not again (usually once a minute).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.identity import accounts as app
from pagekeep.store import open_store
from tests.doors.http.filling import fill_library
from tests.doors.http.routes import ROUTES
from tests.store.making import postgres_server

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
URL: Final = "https://example.com/lamp"
MCP: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def sqlite_rows(library: str) -> list[str]:
    """Every row of every table."""
    import sqlite3

    with closing(sqlite3.connect(f"file:{library}?mode=ro", uri=True)) as connection:
        return sorted(line for line in connection.iterdump() if line.startswith("INSERT"))


def postgres_rows(owner: str) -> list[str]:
    """The same; a superuser sees all of them."""
    import psycopg

    with psycopg.connect(owner) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pagekeep'").fetchall()
        rows = []
        for (table,) in tables:
            found = connection.execute(f'SELECT \'{table} \' || "{table}"::text FROM pagekeep."{table}"')  # type: ignore[arg-type]
            rows += [row[0] for row in found.fetchall()]
        return sorted(rows)


class Reader:
    """A program with a read-only token, on a server with something of everything."""

    def __init__(self, client: TestClient, settings: Settings) -> None:
        self.client = client
        service = client.app.state.service  # type: ignore[attr-defined]
        user = app.add_user(service.accounts, "ada", "nine stoves and a kettle")
        with closing(open_store(settings.library or "", user.id)) as library:
            self._known = fill_library(library, service, "lamp", URL, f"{URL}.png")
        self._headers = {"authorization": f"Bearer {app.add_token(service.accounts, user.id, 'r', ('read',)).secret}"}
        assert self.ask("GET", "/api/v1/items").status_code == 200  # its use is stored now

    def ask(self, method: str, path: str, body: Any = None, form: dict[str, str] | None = None) -> Any:
        answer = self.client.request(method, path, json=body, data=form, headers=self._headers, follow_redirects=False)
        assert answer.status_code != 429, f"{method} {path}: {answer.text}"
        return answer

    def fill_in(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda found: self._known[found[1]], value)
        if isinstance(value, dict):
            return {key: self.fill_in(each) for key, each in value.items()}
        return [self.fill_in(each) for each in value] if isinstance(value, list) else value

    def walk(self) -> int:
        """Ask for every route with every method; return how many requests were made."""
        asked = 0
        for name, route in ROUTES.items():
            if name == "POST /sign-in":  # wrong passwords are counted, no matter which client sends them
                continue
            own = name.partition(" ")[0]
            for method in {own.replace("*", "POST"), *METHODS} if "{" in route.path else {own.replace("*", "POST")}:
                body = self.fill_in(route.json) if method != "GET" else None
                self.ask(method, self.fill_in(route.path), body, self.fill_in(route.form) or None)
                asked += 1
        return asked

    def use_tools(self) -> int:
        """Call every MCP tool; return how many there are."""
        tools = self._call("tools/list", {})["result"]["tools"]
        for tool in tools:
            known = {"id": self._known["item"], "item": self._known["item"], "key": self._known["item"]}
            asked = {"query": "lamp", "url": URL, "q": "lamp", "tags": ["seen"], "note": "So.", "text": "lamp", **known}
            wanted = tool["inputSchema"].get("properties", {})
            self._call(
                "tools/call", {"name": tool["name"], "arguments": {k: v for k, v in asked.items() if k in wanted}}
            )
        return len(tools)

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        answer = self.client.post("/mcp/", content=body, headers={**self._headers, **MCP})
        assert answer.status_code == 200, answer.text
        return json.loads(answer.text[answer.text.index("{") :].split("\n")[0])


async def _no_wait(_seconds: float, _ending: asyncio.Event) -> None:
    """Refusals are not delayed: nearly every request is one."""


@contextmanager
def reader(settings: Settings) -> Iterator[Reader]:
    with TestClient(create_app(settings, processes=1, wait=_no_wait), base_url="http://127.0.0.1:8470") as client:
        yield Reader(client, settings)


@contextmanager
def place(engine: str, folder: Path) -> Iterator[tuple[Settings, Callable[[], list[str]]]]:
    """Settings of a server on an empty library, and what lists its rows."""
    # Without a limit of requests per token: beyond it nothing would be tried.
    settings = Settings(shared=True, render="never", retries=0, rules=str(folder), token_requests=0)
    if engine == "sqlite":
        library = str(folder / "library.db")
        yield replace(settings, library=library), lambda: sqlite_rows(library)
        return
    with postgres_server() as server:
        yield replace(settings, library=server.shared), lambda: postgres_rows(server.owner)


def attack(engine: str, folder: Path, rounds: int) -> tuple[int, int, list[str]]:
    """How many requests were made and tools called, and which rows differ."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(app, "_MARK_USED_SECONDS", 1e6))
        settings, rows = stack.enter_context(place(engine, folder))
        one = stack.enter_context(reader(settings))
        before = rows()
        assert any("The lamp" in row for row in before)
        requests = sum(one.walk() for _ in range(rounds))
        tools = sum(one.use_tools() for _ in range(rounds))
        return requests, tools, sorted(set(before) ^ set(rows()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    for engine in ("sqlite", "postgres") if chosen.engine == "both" else (chosen.engine,):
        with tempfile.TemporaryDirectory() as folder:
            requests, tools, changed = attack(engine, Path(folder), chosen.rounds)
        print(f"{engine}: {len(ROUTES)} routes, {requests} requests, {tools} MCP calls, {len(changed)} rows changed")
        print(*(row[:300] for row in changed), sep="\n")
        assert not changed


if __name__ == "__main__":
    main()
