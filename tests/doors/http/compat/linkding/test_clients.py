"""aiolinkding and linkding-cli, unmodified, as their users call them, on both engines."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep import accounts
from pagekeep.config import Settings
from tests.browser.serving import Server as Running
from tests.doors.http.conftest import PASSWORD
from tests.site.fixtures import Shore, article
from tests.store.conftest import server
from tests.store.making import Server

__all__ = ["server"]
STORY = """
import asyncio, sys
from aiolinkding import async_get_client
from aiolinkding.errors import InvalidTokenError, RequestError

async def main(url, token, page):
    client = await async_get_client(url, token)
    first = await client.bookmarks.async_create(page, tag_names=["sea"], notes="Why?", unread=True)
    assert (await client.bookmarks.async_create(page))["id"] == first["id"]
    for n in range(3):
        await client.bookmarks.async_create(f"http://127.0.0.1:9/none/{n}")
    seen = []
    for offset in (0, 2, 4):
        seen += (await client.bookmarks.async_get_all(limit=2, offset=offset))["results"]
    assert len({each["id"] for each in seen}) == 4, seen
    assert seen == (await client.bookmarks.async_get_all())["results"], "nothing changed"
    number = first["id"]
    assert (await client.bookmarks.async_get_single(number))["title"] == "The keeper"
    assert (await client.bookmarks.async_get_all(query="ships"))["count"] == 1
    changed = await client.bookmarks.async_update(number, tag_names=["sky"])
    assert changed["tag_names"] == ["sky"]
    await client.bookmarks.async_archive(number)
    assert [each["id"] for each in (await client.bookmarks.async_get_archived())["results"]] == [number]
    await client.bookmarks.async_unarchive(number)
    await client.bookmarks.async_delete(number)
    try:
        await client.bookmarks.async_get_single(number)
        raise SystemExit("It is still there.")
    except RequestError:
        pass
    assert (await client.tags.async_create("new"))["name"] == "new"
    assert (await client.tags.async_get_all())["count"] == 0
    assert (await client.user.async_get_profile())["theme"]
    try:
        await (await async_get_client(url, "wrong")).bookmarks.async_get_all()
        raise SystemExit("A wrong token was accepted.")
    except InvalidTokenError:
        pass

asyncio.run(main(*sys.argv[1:]))
"""


class Reader:
    """A user of a running server, and a token for linkding."""

    def __init__(self, running: Running) -> None:
        store = running.app.state.service.accounts
        user = accounts.add_user(store, f"ada-{uuid.uuid4().hex[:8]}", PASSWORD)
        self.url = f"{running.url}/linkding"
        self.token = accounts.add_token(store, user.id, "linkding", ("read", "write", "linkding")).secret


@pytest.fixture(params=["sqlite", "postgres"])
def reader(
    request: pytest.FixtureRequest,
    settings: Settings,
    tools: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shared_workers: None,
) -> Iterator[Reader]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    if request.param == "postgres":
        database: Server = request.getfixturevalue("server")
        settings = replace(settings, library=database.shared)
    with Running(replace(settings, shared=True)) as running:
        yield Reader(running)


def test_aiolinkding(reader: Reader, shore: Shore, tools: Path) -> None:
    shore.bodies["a"] = article(400, "The keeper")
    command = [tools / "python", "-c", STORY, reader.url, reader.token, shore.url("a")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_linkding_cli(reader: Reader, shore: Shore, tools: Path) -> None:
    shore.bodies["a"] = article(400, "The keeper")

    def run(*arguments: str) -> Any:
        command = [tools / "linkding", "--url", reader.url, "--token", reader.token, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout.strip().startswith("{") else done.stdout

    number = str(run("bookmarks", "create", shore.url("a"), "--tags", "sea,ships")["id"])
    assert run("bookmarks", "all")["results"][0]["tag_names"] == ["sea", "ships"]
    run("bookmarks", "archive", number)
    assert run("bookmarks", "all", "--archived")["count"] == 1
    assert run("tags", "all")["count"] == 2
    run("bookmarks", "delete", number)
    assert run("bookmarks", "all")["count"] == 0
