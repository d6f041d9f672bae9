"""Items found by what people write, and what the user sets on them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import config
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidUrl, NotFound, ParseError
from pagekeep.library import items as shelf
from pagekeep.library.save import save
from pagekeep.model import Item, SaveResult
from pagekeep.store import Store
from tests.site.fixtures import Shore, article


@pytest.fixture
def item(keep: Callable[..., SaveResult], shore: Shore) -> Item:
    shore.bodies["a"] = article(300)
    return keep(shore.url("a"), tags=("harbour", "History")).item


def test_an_item_is_found_by_id_prefix_and_any_form_of_its_address(library: Store, item: Item) -> None:
    for key in (item.id, item.id[:6], item.url, item.url + "?utm_source=x#end"):
        assert shelf.get_item(library, key).id == item.id


def test_a_page_that_is_not_there_says_how_to_save_it(library: Store) -> None:
    with pytest.raises(NotFound) as raised:
        shelf.get_item(library, "https://example.com/none")
    assert raised.value.suggestions == ("Save it first.",)
    with pytest.raises(NotFound):
        shelf.get_item(library, "0000")
    with pytest.raises(InvalidUrl):
        shelf.get_item(library, "https://")


def test_reading_marks_the_item_opened(library: Store, item: Item) -> None:
    assert item.last_opened_at is None
    assert shelf.open_item(library, item.id).last_opened_at is not None
    assert library.get(item.id).last_opened_at is not None


def test_tags_are_put_on_and_taken_off_the_others_staying(library: Store, item: Item) -> None:
    before = list(item.metadata.tags)
    tagged = shelf.tag_item(library, item.id, add=["#new\x1b", "harbour"], remove=["HISTORY"])
    assert list(tagged.metadata.tags) == [*(tag for tag in before if tag != "History"), "new"]


def test_the_library_opens_where_and_for_whom_the_settings_say(tmp_path: Path) -> None:
    settings = Settings(library=str(tmp_path / "here.db"), user="keeper", keep_raw=False)
    store = shelf.open_library(settings)
    other = shelf.open_library(settings, "another")
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
            return (await save(Request(shore.url("a"), render="never"), store, retrieval)).item

    with closing(shelf.open_library(chosen)) as store:
        item = asyncio.run(one(store))
        assert "puts the kettle on" in item.content
        assert store.raw(item.id) is None
