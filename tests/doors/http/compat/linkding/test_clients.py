"""aiolinkding and linkding-cli, unmodified, as their users call them, on both engines."""

from __future__ import annotations

import json
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from pagekeep.identity import accounts
from tests.doors.http.compat.conftest import Restartable
from tests.doors.http.conftest import PASSWORD
from tests.site.fixtures import Shore, article

STORY = """
import asyncio, sys
from aiolinkding import async_get_client
from aiolinkding.errors import InvalidTokenError, RequestError

async def main(url, token, page, expired):
    client = await async_get_client(url, token)
    first = await client.bookmarks.async_create(page, tag_names=["sea"], notes="Why?", unread=True)
    assert (await client.bookmarks.async_create(page))["id"] == first["id"]
    for n in range(3):
        await client.bookmarks.async_create(f"http://127.0.0.1:9/none/{n}")
    seen = []
    for offset in (0, 2, 4):
        if offset == 2:
            print("restart", flush=True)
            sys.stdin.readline()
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
    for wrong in ("wrong", expired):
        try:
            await (await async_get_client(url, wrong)).bookmarks.async_get_all()
            raise SystemExit("A wrong token was accepted.")
        except InvalidTokenError:
            pass

asyncio.run(main(*sys.argv[1:]))
"""


class Reader:
    """A user of a running server, and a token for linkding."""

    def __init__(self, running: Restartable) -> None:
        self.running = running
        store = running.service.accounts
        user = accounts.add_user(store, f"ada-{uuid.uuid4().hex[:8]}", PASSWORD)
        self.url = f"{running.url}/linkding"
        self.token = accounts.add_token(store, user.id, "linkding", ("read", "write", "linkding")).secret
        self.expired = accounts.add_token(store, user.id, "old", ("read", "linkding"), days=1e-9).secret


@pytest.fixture
def reader(running: Restartable) -> Reader:
    return Reader(running)


def test_aiolinkding(reader: Reader, shore: Shore, tools: Path) -> None:
    shore.bodies["a"] = article(400, "The keeper")
    command = [tools / "python", "-c", STORY, reader.url, reader.token, shore.url("a"), reader.expired]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True) as story:
        assert story.stdout is not None
        line = story.stdout.readline()
        assert line == "restart\n", line + story.stdout.read()
        reader.running.restart()
        rest, _ = story.communicate("go on\n", timeout=120)
    assert story.returncode == 0, rest


def test_linkding_cli(reader: Reader, shore: Shore, tools: Path) -> None:
    shore.bodies["a"] = article(400, "The keeper")

    def run(*arguments: str) -> Any:
        command = [tools / "linkding", "--url", reader.url, "--token", reader.token, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout.strip().startswith("{") else done.stdout

    number = str(run("bookmarks", "create", shore.url("a"), "--tags", "sea,ships")["id"])
    assert run("bookmarks", "all")["results"][0]["tag_names"] == ["sea", "ships"]
    reader.running.restart()
    run("bookmarks", "archive", number)
    assert run("bookmarks", "all", "--archived")["count"] == 1
    assert run("tags", "all")["count"] == 2
    run("bookmarks", "delete", number)
    assert run("bookmarks", "all")["count"] == 0
