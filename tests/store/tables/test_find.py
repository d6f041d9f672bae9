from __future__ import annotations

from typing import Any

import pytest

from pagekeep.errors import StoreError
from pagekeep.model import Filter, ItemQuery, Order, item_filters
from pagekeep.store import Store
from tests.store.making import NOW, make_item, moment

INBOX = item_filters(archived=False)


def titles(library: Store, filters: tuple[Filter, ...] | None = None, **options: Any) -> list[str]:
    """All pages, one after the other."""
    found: list[str] = []
    after = None
    while True:
        page = library.search.find(
            ItemQuery(
                filters=INBOX if filters is None else filters, after=after, limit=options.pop("limit", 2), **options
            )
        )
        found += (item.title for item in page.items)
        if page.next is None:
            return found
        after = page.next


def fill(library: Store, *items: dict[str, Any]) -> None:
    for number, fields in enumerate(items):
        library.items.save(make_item(number, user_id=library.user_id, **fields), None)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("saved", "a Äb c D"), ("title", "a Äb c D"), ("published", "D c a Äb"), ("opened", "")],
)
def test_items_come_in_the_order_asked_for(library: Store, order: Order, expected: str) -> None:
    fill(
        library,
        {"title": "c", "saved_at": moment(3), "published_at": "2023-05"},
        {"title": "Äb", "saved_at": moment(2), "published_at": "2024-01-02T03:04:05Z"},
        {"title": "a", "saved_at": moment(1), "published_at": "2024"},
        {"title": "D", "saved_at": moment(4)},
    )
    library.items.mark_opened(library.items.get("https://example.com/page/2").id, moment(8))
    library.items.mark_opened(library.items.get("https://example.com/page/1").id, moment(9))
    found = titles(library, order=order, descending=False)
    if order == "opened":
        assert found[2:] == ["a", "Äb"]
        assert set(found[:2]) == {"c", "D"}
    else:
        assert found == expected.split()
    assert titles(library, order=order, descending=True) == found[::-1]


def test_nothing_is_skipped_or_repeated_when_items_come_and_go(library: Store) -> None:
    fill(library, *({"title": str(n), "saved_at": moment(n)} for n in range(6)))
    first = library.search.find(ItemQuery(filters=item_filters(archived=False), limit=2))
    assert [item.title for item in first.items] == ["5", "4"]
    library.items.delete(first.items[1].id, NOW)
    library.items.save(make_item(9, user_id=library.user_id, title="9", saved_at=moment(9)), None)
    second = library.search.find(ItemQuery(filters=item_filters(archived=False), limit=2, after=first.next))
    assert [item.title for item in second.items] == ["3", "2"]


def test_items_of_one_moment_are_all_listed(library: Store) -> None:
    fill(library, *({"title": str(n)} for n in range(7)))
    assert sorted(titles(library)) == [str(n) for n in range(7)]


def test_the_inbox_has_neither_archived_nor_deleted(library: Store) -> None:
    fill(library, {"title": "in"}, {"title": "archived", "archived": True}, {"title": "gone"})
    library.items.delete(library.items.get("https://example.com/page/2").id, NOW)
    assert titles(library) == ["in"]
    assert titles(library, item_filters(archived=True)) == ["archived"]
    assert sorted(titles(library, item_filters())) == ["archived", "in"]
    assert titles(library, item_filters(deleted=True)) == ["gone"]


def test_filters_narrow_the_list(library: Store) -> None:
    fill(
        library,
        {"title": "a", "domain": "example.com", "tags": ["Über", "x"], "pinned": True, "saved_at": moment(1)},
        {"title": "b", "domain": "blog.example.com", "tags": ["x"], "quality": "article", "saved_at": moment(2)},
        {"title": "c", "domain": "notexample.com", "quality": {"level": "bookmark", "score": 3}, "saved_at": moment(3)},
        {"title": "d", "domain": "example.community", "pinned": "yes", "saved_at": moment(4)},
    )
    expected = {
        item_filters(domain="example.com"): "ab",
        item_filters(domain="Blog.example.com"): "b",
        item_filters(tags=("x",)): "ab",
        item_filters(tags=("uber", "X")): "a",
        item_filters(tags=("none",)): "",
        item_filters(pinned=True): "a",
        item_filters(pinned=False): "bcd",
        item_filters(quality="article"): "b",
        item_filters(quality="bookmark"): "c",
        item_filters(saved_after=moment(3)): "cd",
        item_filters(saved_before=moment(2)): "a",
        item_filters(saved_after=moment(2), saved_before=moment(4), domain="example.com"): "b",
    }
    assert {filter: "".join(sorted(titles(library, filter))) for filter in expected} == expected


@pytest.mark.parametrize("key", ["", "nonsense", "W10", "ä", "bnVsbA", "W1sic2F2ZWQiLCB0cnVlXSwgMSwgMl0"])
def test_a_key_of_no_list_is_refused(library: Store, key: str) -> None:
    with pytest.raises(StoreError, match="key"):
        library.search.find(ItemQuery(filters=item_filters(archived=False), after=key))


def test_a_key_of_another_order_is_refused(library: Store) -> None:
    fill(library, {}, {})
    key = library.search.find(ItemQuery(filters=item_filters(archived=False), limit=1)).next
    with pytest.raises(StoreError, match="key"):
        library.search.find(ItemQuery(filters=item_filters(archived=False), order="title", after=key))


def test_lists_know_their_number(library: Store) -> None:
    made = [library.items.save(make_item(n, user_id=library.user_id), None) for n in range(5)]
    for item in made[:2]:
        library.items.set_metadata(item.id, NOW, archived=True)
    library.items.delete(made[1].id, NOW)
    library.items.delete(made[4].id, NOW)
    for archived, number in ((None, 3), (True, 1), (False, 2)):
        filters = item_filters(archived=archived)
        assert library.search.count(filters) == number == len(library.search.find(ItemQuery(filters=filters)).items)
    library.items.purge()
    assert library.search.count(()) == 3
    library.items.set_metadata(made[0].id, NOW, archived=None)
    assert library.search.count(item_filters(archived=False)) == 3
