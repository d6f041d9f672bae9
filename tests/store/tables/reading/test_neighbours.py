"""The items before and after an item in a list."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagekeep.model import Item, ItemQuery, item_filters
from pagekeep.store import Store, parse_query
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment


@pytest.fixture
def items(library: Store) -> list[Item]:
    made = []
    for number in range(5):
        item = make_item(
            number, user_id=library.user_id, title=f"Title {4 - number}", content="harbour " * (number + 1)
        )
        made.append(library.items.save(replace(item, saved_at=moment(number)), None))
    return made


def beside(library: Store, query: ItemQuery, item: Item) -> tuple[str | None, str | None]:
    found = library.search.neighbours(query, item.id)
    return found.previous.id if found.previous else None, found.next.id if found.next else None


@pytest.mark.parametrize("order", ["saved", "opened", "title", "published", "updated"])
@pytest.mark.parametrize("descending", [True, False])
def test_neighbours_follow_the_list_in_every_order(
    library: Store, items: list[Item], order: str, descending: bool
) -> None:
    library.items.mark_opened(items[3].id, moment(9))
    query = ItemQuery(order=order, descending=descending)  # type: ignore[arg-type]
    listed = [item.id for item in library.search.find(query).items]
    for at, item_id in enumerate(listed):
        item = next(item for item in items if item.id == item_id)
        expected = (listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None)
        assert beside(library, query, item) == expected


def test_an_item_that_has_left_the_list_still_has_neighbours(library: Store, items: list[Item]) -> None:
    query = ItemQuery(filters=item_filters(archived=False))
    library.items.set_metadata(items[2].id, NOW, archived=True)
    assert beside(library, query, items[2]) == (items[3].id, items[1].id)
    assert beside(library, query, items[3]) == (items[4].id, items[1].id)


def test_neighbours_in_a_search_are_the_hits_beside(library: Store, items: list[Item]) -> None:
    query = parse_query("harbour")
    listed = [hit.item for hit in library.search.find(query).hits]
    assert beside(library, query, listed[1]) == (listed[0].id, listed[2].id)
    assert beside(library, query, listed[0])[0] is None
    assert beside(library, parse_query("nothing"), listed[1]) == (None, None)


def test_no_item_of_another_user_is_a_neighbour(library: Store, items: list[Item], opened: Opener) -> None:
    stranger = opened("stranger")
    assert beside(stranger, ItemQuery(), items[1]) == (None, None)
