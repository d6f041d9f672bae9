"""Items found by their key, and walked through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.errors import InvalidQuery, InvalidUrl, NotFound
from pagekeep.library.items import find as module
from pagekeep.library.items.find import get_item, item_matches, walk_items
from pagekeep.model import Item, SaveResult
from pagekeep.store import Store, open_store
from tests.library.exports.making import fill
from tests.site.fixtures import Shore, article


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(str(tmp_path / "library.db"))) as opened:
        yield opened


@pytest.fixture
def item(keep: Callable[..., SaveResult], shore: Shore) -> Item:
    shore.bodies["a"] = article(300)
    return keep(shore.url("a"), tags=("harbour", "History")).item


def test_an_item_is_found_by_id_prefix_and_any_form_of_its_address(library: Store, item: Item) -> None:
    for key in (item.id, item.id[:6], item.url, item.url + "?utm_source=x#end"):
        assert get_item(library, key).id == item.id


def test_a_page_that_is_not_there_says_how_to_save_it(library: Store) -> None:
    with pytest.raises(NotFound) as raised:
        get_item(library, "https://example.com/none")
    assert raised.value.suggestions == ("Save it first.",)
    with pytest.raises(NotFound):
        get_item(library, "0000")
    with pytest.raises(InvalidUrl):
        get_item(library, "https://")


def test_walking_all_items_goes_oldest_first_over_many_pages(store: Store) -> None:
    fill(store, 250)
    items = list(walk_items(store))
    assert len(items) == 250
    assert items == sorted(items, key=lambda item: (item.saved_at, item.id))


def test_walking_a_search_goes_in_the_same_order(store: Store) -> None:
    fill(store, 450)
    items = list(walk_items(store, "tag:sea"))
    assert len(items) == len({item.id for item in items}) == 337
    assert items == sorted(items, key=lambda item: (item.saved_at, item.id))
    assert list(walk_items(store, "tag:sea", limit=3)) == items[:3]


def test_walking_leaves_deleted_items_out_and_stops_at_the_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE_ITEMS", 2)
    fill(store, 6)
    ids = [item.id for item in walk_items(store)]
    store.items.delete(ids[1], clock.now())
    assert [item.id for item in walk_items(store)] == [ids[0], *ids[2:]]
    assert [item.id for item in walk_items(store, limit=3)] == [ids[0], ids[2], ids[3]]
    assert not list(walk_items(store, domain="example.org"))
    assert len(list(walk_items(store, domain="example.com", limit=4))) == 4


def test_an_item_that_is_purged_during_a_walk_is_left_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAGE_ITEMS", 1)
    fill(store, 4)
    ids = [item.id for item in walk_items(store)]
    walk = walk_items(store, "-nothing")
    first = next(walk).id
    gone = next(item_id for item_id in ids if item_id != first)
    store.items.delete(gone, clock.now())
    store.items.purge([gone])
    assert {first, *(item.id for item in walk)} == {*ids} - {gone}


def test_one_item_is_matched_with_a_query_as_people_type_it(library: Store, item: Item) -> None:
    word = item.title.split()[0]
    assert item_matches(library, item.id, "")
    assert item_matches(library, item.id, f"{word} domain:{item.domain} -is:archived")
    assert not item_matches(library, item.id, "is:archived")
    with pytest.raises(InvalidQuery):
        item_matches(library, item.id, "is:nonsense")
