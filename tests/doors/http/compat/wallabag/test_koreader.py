"""KOReader's own plugin, on both engines. Its licence is not ours, so it is not here: a folder of KOReader is named from outside."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.identity import accounts
from pagekeep.library.items.change import MOVES, change_item
from pagekeep.library.items.find import get_numbered
from pagekeep.store import open_store
from tests.doors.http.compat.conftest import Restartable
from tests.doors.http.conftest import PASSWORD
from tests.site.fixtures import Shore, article
from tests.store.making import make_item, moment

STORY = Path(__file__).with_name("koreader_story.py")


def test_koreaders_plugin(running: Restartable, shore: Shore, tools: Path, tmp_path: Path) -> None:
    folder = os.environ.get("PAGEKEEP_TEST_KOREADER", "")
    plugin = Path(folder) / "plugins" / "wallabag.koplugin" / "main.lua"
    if not folder or not plugin.exists():
        pytest.skip("No KOReader: PAGEKEEP_TEST_KOREADER names its folder.")
    shore.bodies["a"] = article(400, "The keeper")
    user = accounts.add_user(running.service.accounts, f"ada-{uuid.uuid4().hex[:8]}", PASSWORD)
    books = tmp_path / "books"
    books.mkdir()
    with closing(open_store(running.service.settings.library, user.id)) as store:
        for n in range(5):
            title = f"Page {n}: “ä/ö”"
            store.items.save(make_item(n, user_id=user.id, title=title, content="Text.", saved_at=moment(n)), None)
        command = [
            tools / "python",
            STORY,
            plugin,
            f"{running.url}/wallabag",
            user.name,
            PASSWORD,
            books,
            shore.url("a"),
        ]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True) as story:
            assert story.stdout is not None
            line = story.stdout.readline()
            assert line.startswith("["), line + story.stdout.read()
            read, done, gone = json.loads(line)
            item = get_numbered(store, int(read))
            assert (item.metadata.archived, item.metadata.tags) == (True, ("good", "again"))
            assert store.items.get(store.items.by_number([int(done)])[int(done)]).deleted_at is not None
            change_item(store, get_numbered(store, int(gone)).id, MOVES["delete"])
            running.restart()
            rest, _ = story.communicate("go on\n", timeout=120)
        assert story.returncode == 0, rest
