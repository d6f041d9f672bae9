"""The demo library: seven kinds, five languages, the same every time; and it never mixes with the user's pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import Conflict
from pagekeep.library.archive.pictures import find_picture
from pagekeep.library.items.build_item import new_bookmark
from pagekeep.model import Item, ItemQuery, Metadata
from pagekeep.store import Store, open_store
from pagekeep_demo.fill import SOURCE, fill_library, remove_demo
from pagekeep_demo.pages import load_pages, write_html

MAX_BYTES = 200_000


def fill(store: Store) -> tuple[Item, ...]:
    async def run() -> tuple[Item, ...]:
        async with Retrieval(Settings(render="never")) as retrieval:
            return await fill_library(store, retrieval)

    return asyncio.run(run())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with closing(open_store(str(tmp_path_factory.mktemp("demo") / "demo.db"))) as opened:
        fill(opened)
        yield opened


@pytest.fixture(scope="module")
def items(store: Store) -> tuple[Item, ...]:
    return store.search.find(ItemQuery(limit=100)).items


def test_there_are_seven_kinds_and_five_languages(items: tuple[Item, ...]) -> None:
    assert len(items) == len(load_pages()) >= 24
    assert {item.url: item.metadata.kind for item in items} == {page.url: page.fields["kind"] for page in load_pages()}
    assert len({item.metadata.kind for item in items}) == 7
    assert {item.metadata.language for item in items} == {"en", "de", "es", "ar", "ja"}


def test_every_page_is_read_without_its_menu_and_with_its_last_sentence(items: tuple[Item, ...]) -> None:
    for item in items:
        assert item.metadata.quality in ("article", "simplified")
        assert "imprint" not in item.content


def test_every_highlight_is_in_its_text_and_every_picture_is_kept(store: Store, items: tuple[Item, ...]) -> None:
    pages = {page.url: page for page in load_pages()}
    for item in items:
        text = " ".join(item.content.split())
        marks = store.annotations.of_item(item.id)
        assert len(marks) == len(pages[item.url].fields.get("highlights", ())) + ("note" in pages[item.url].fields)
        assert [mark.quote for mark in marks if mark.quote not in text] == []
        if url := pages[item.url].picture_url:
            assert find_picture(store, url, small=True) is not None


def test_states_and_dates_are_those_of_the_texts(store: Store, items: tuple[Item, ...]) -> None:
    states = store.reading.get_many([item.id for item in items]).values()
    assert [state.state for state in states].count("reading") == 3
    assert [state.state for state in states].count("read") == 9
    assert sum(bool(item.metadata.pinned) for item in items) == 3
    assert sum(bool(item.metadata.archived) for item in items) == 3
    assert any(item.last_opened_at for item in items)
    assert any(item.last_opened_at is None for item in items)
    assert max(item.saved_at for item in items) == "2026-10-28T12:30:00.000000Z"


def test_a_second_library_is_the_same_and_is_removed_with_its_pictures(items: tuple[Item, ...], tmp_path: Path) -> None:
    with closing(open_store(str(tmp_path / "again.db"))) as other:
        assert {(item.id, item.content, item.saved_at) for item in fill(other)} == {
            (item.id, item.content, item.saved_at) for item in items
        }
        assert {item.source for item in items} == {SOURCE}
        assert fill(other) == ()
        assert remove_demo(other) == len(items)
        assert other.search.find(ItemQuery()).items == ()
        assert other.blobs.total_bytes() == 0


def test_other_pages_are_never_mixed_with_and_never_removed(tmp_path: Path) -> None:
    with closing(open_store(str(tmp_path / "own.db"))) as own:
        url, now = "https://e.example/mine", clock.now()
        mine = new_bookmark(
            Metadata(title="Mine"), url=url, url_full=url, user_id=own.user_id, now=now, reason="", suggestion=None
        )
        own.items.save(mine, None)
        with pytest.raises(Conflict, match="already has pages"):
            fill(own)
        assert remove_demo(own) == 0
        assert [item.url for item in own.search.find(ItemQuery()).items] == [url]


def test_what_is_shipped_is_small_and_names_no_real_site() -> None:
    texts = Path(__file__).parents[3] / "src" / "pagekeep" / "library" / "demo"
    assert sum(path.stat().st_size for path in texts.rglob("*") if path.suffix in (".py", ".yaml")) < MAX_BYTES
    for page in load_pages():
        assert page.origin.endswith(".example")
        assert "://" not in write_html(page).replace(page.origin, "").replace("https://schema.org", "")
