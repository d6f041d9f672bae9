"""Which items go out."""

from __future__ import annotations

from pagekeep.library.exports.select import chosen
from pagekeep.store import Store
from tests.library.exports.making import fill


def test_all_come_oldest_first_over_many_pages(library: Store) -> None:
    fill(library, 250)
    found = list(chosen(library))
    assert len(found) == 250
    assert found == sorted(found, key=lambda item: (item.saved_at, item.id))


def test_a_query_finds_over_many_pages_in_the_same_order(library: Store) -> None:
    fill(library, 450)
    found = list(chosen(library, "tag:sea"))
    assert len(found) == len({item.id for item in found}) == 337
    assert found == sorted(found, key=lambda item: (item.saved_at, item.id))
