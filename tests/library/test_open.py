"""Opening a library as the settings say."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import config
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import DatabaseUnreachable, ParseError
from pagekeep.library import open as opening
from pagekeep.library.open import open_library
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.model import Item
from pagekeep.store import Store
from tests.site.fixtures import Shore, article


def test_the_library_opens_where_and_for_whom_the_settings_say(tmp_path: Path) -> None:
    settings = Settings(library=str(tmp_path / "here.db"), user="keeper", keep_raw=False)
    store = open_library(settings)
    other = open_library(settings, "another")
    assert (tmp_path / "here.db").exists()
    assert (store.user_id, other.user_id) == ("keeper", "another")
    store.close()
    other.close()


@pytest.mark.parametrize(("written", "kept"), [("no", False), ("0", False), ("True", True), (False, False)])
def test_keeping_raw_pages_is_a_setting_of_yes_and_no(written: object, kept: bool) -> None:
    assert config.load({"keep_raw": written}, {}).keep_raw is kept
    with pytest.raises(ParseError):
        config.load({"keep_raw": "maybe"}, {})


def test_without_raw_pages_a_save_keeps_the_content_alone(shore: Shore, tmp_path: Path, settings: Settings) -> None:
    shore.bodies["a"] = article(300)
    chosen = replace(settings, library=str(tmp_path / "library.db"), keep_raw=False)

    async def one(store: Store) -> Item:
        async with Retrieval(chosen) as retrieval:
            return (await save(SaveRequest(Request(shore.url("a"), render="never")), store, retrieval)).item

    with closing(open_library(chosen)) as store:
        item = asyncio.run(one(store))
        assert "puts the kettle on" in item.content
        assert store.items.raw(item.id) is None


def test_work_goes_on_when_the_database_answers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_MAX_PAUSE", 0.001)
    failures = [DatabaseUnreachable("Away.")] * 5

    async def work() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert asyncio.run(opening.outlast(work, asyncio.Event())) == "done"


def test_work_that_is_stopped_waits_no_longer() -> None:
    async def stop() -> None:
        stopping = asyncio.Event()

        async def work() -> None:
            stopping.set()
            raise DatabaseUnreachable("Away.")

        with pytest.raises(DatabaseUnreachable):
            await opening.outlast(work, stopping)

    asyncio.run(stop())
