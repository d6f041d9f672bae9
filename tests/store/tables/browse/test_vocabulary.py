"""The words of the library, and the nearest of them."""

from __future__ import annotations

import pytest

from pagekeep.store import Store
from pagekeep.store.tables.counts import count_mistakes
from tests.store.conftest import Opener
from tests.store.making import make_item


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("minecrfat", "minecraft"),  # swapped
        ("minecaft", "minecraft"),  # missing
        ("imnecraft", "minecraft"),  # the first two swapped
        ("tiide", "tide"),
        ("harbor", "harbour"),
        ("capeck", "capek"),
        ("minecraft", None),  # a word of the library
        ("zebra", None),  # nothing is near
        ("tid", None),  # too short
        ("x1y2z3", None),
    ],
)
def test_the_nearest_word(library: Store, typed: str, found: str | None) -> None:
    item = make_item(
        1, user_id=library.user_id, title="Minecraft", content="A tide clock in the harbour.", author="Čapek"
    )
    library.items.save(item, None)
    assert library.counts.nearest_word(typed) == found


def test_the_beginning_of_a_word_is_one(library: Store) -> None:
    library.items.save(make_item(1, user_id=library.user_id, title="Minecraft mines"), None)
    assert library.counts.nearest_word("minecraf", prefix=True) is None
    assert library.counts.nearest_word("minecraf") == "minecraft"


def test_words_of_another_user_are_not_offered(opened: Opener) -> None:
    one, other = opened(), opened("another-user-of-words")
    one.items.save(make_item(1, user_id=one.user_id, title="Confidential"), None)
    assert other.counts.nearest_word("confidentail") is None


def test_mistakes_are_counted_up_to_a_limit() -> None:
    assert [count_mistakes("tide", other, 2) for other in ("tide", "tied", "tid", "tides", "time", "ship")] == [
        *(0, 1, 1, 1, 1),
        3,
    ]
