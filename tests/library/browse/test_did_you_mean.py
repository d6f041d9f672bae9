"""What a search that finds nothing may have meant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.library.items.browse import correct_query
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db")) as store:
        store.items.save(make_item(1, title="The tide clock", content="It counts waves."), None)
        store.items.save(make_item(2, title="Minecraft"), None)
        yield store


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("minecrfat", "minecraft"),
        ("tiide clcok", "tide clock"),
        ("clokc is:unread", "clock is:unread"),
        ("clokc is:archived", None),  # corrected, it would find nothing either
        ("minecraft tiide", None),  # these two are not on one page
        ('"tiide clock"', None),
        ("tag:tiide", None),
        ("-tiide", None),
        ("clock", None),
        ("", None),
    ],
)
def test_a_search_is_corrected_if_that_finds_something(library: Store, text: str, meant: str | None) -> None:
    assert correct_query(library, text) == meant


def test_words_of_removed_items_are_not_offered(library: Store) -> None:
    item = library.items.save(make_item(3, title="Lighthouse"), None)
    library.items.delete(item.id, "2025-03-19T10:30:00.000000Z")
    assert correct_query(library, "lighthosue") is None
