"""Statistics of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.library.items.browse import MAX_MONTHS, read_statistics
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(clock, "now", lambda: "2025-03-20T10:00:00.000000Z")
    with closing(open_store(tmp_path / "library.db")) as store:
        yield store


def test_months_have_no_gaps_and_reading_time_is_that_of_what_was_read(library: Store) -> None:
    first = library.items.save(
        make_item(1, saved_at="2024-12-31T23:00:00.000000Z", word_count=4_000, language="de"), None
    )
    library.items.save(make_item(2, word_count=400, language="en", domain="sea.example"), None)
    read = {"state": "read", "read_at": "2025-02-01T00:00:00.000000Z", "updated_at": "2025-02-01T00:00:00.000000Z"}
    library.reading.change(first.id, lambda old: replace(old, **read))
    found = read_statistics(library)
    assert [(month.month, month.saved, month.read, month.minutes_read) for month in found.months] == [
        ("2024-12", 1, 0, 0),
        ("2025-01", 0, 0, 0),
        ("2025-02", 0, 1, 20),
        ("2025-03", 1, 0, 0),
    ]
    assert (found.saved, found.read, found.unread, found.minutes_read, found.minutes_saved) == (2, 1, 1, 20, 22)
    assert {one.name for one in found.sites} == {"example.com", "sea.example"}
    assert {one.name for one in found.languages} == {"de", "en"}


def test_an_empty_library_has_this_month_alone_and_an_old_one_two_years(library: Store) -> None:
    assert [month.month for month in read_statistics(library).months] == ["2025-03"]
    library.items.save(make_item(1, saved_at="1999-12-31T23:00:00.000000Z"), None)
    months = [month.month for month in read_statistics(library).months]
    assert (len(months), months[0], months[-1]) == (MAX_MONTHS, "2023-04", "2025-03")
