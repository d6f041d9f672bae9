"""Renaming, merging and deleting tags, and undoing it; on both engines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items import change
from pagekeep.library.items.change import change_item
from pagekeep.library.items.tags import delete_tag, get_tag_change, rename_tag, undo_tags
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.model import ItemQuery
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, open_store, parse_query
from tests.store.making import Server, make_item

NOW = "2025-03-20T10:30:00.000000Z"
USER = "tagger"


@pytest.fixture(params=("sqlite", "postgres"))
def library(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    where = str(tmp_path / "library.db")
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        where = server.app
    with closing(open_store(where, f"{USER}-{tmp_path.name}")) as store:
        for number in range(130):
            tags = ["Sea", "ocean"] if number % 2 else ["first", "sea", "tide"]
            store.items.save(make_item(number, tags=tags, user_id=store.user_id), None)
        store.items.delete(store.items.by_url("https://example.com/page/1").id, NOW)  # type: ignore[union-attr]
        yield store


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag is changed on 20 items at a time."""
    monkeypatch.setattr(change, "_RETAGGED", 20)
    monkeypatch.setattr(change, "MAX_AT_ONCE", 20)


def _tags(library: Store) -> dict[str, int]:
    return library.counts.get(["tag"])["tag"]


def _own(library: Store, number: int) -> tuple[str, ...]:
    item = library.items.by_url(f"https://example.com/page/{number}")
    assert item is not None
    return item.metadata.tags


def _found(library: Store, text: str) -> int:
    return len(library.search.find(replace(parse_query(text), limit=200)).items)


def test_a_tag_is_renamed_on_all_items_and_that_is_undone(library: Store) -> None:
    before, times = _tags(library), {item.updated_at for item in library.search.find(ItemQuery(limit=200)).items}
    action = rename_tag(library, "SEA", "Shore line").action
    assert (action.changed, action.label) == (130, "Renamed the tag SEA to Shore line")
    assert _tags(library) == {"first": 65, "ocean": 64, "shore line": 129, "tide": 65}
    assert [one.name for one in library.counts.suggest("tag", "sh")] == ["Shore line"]
    assert (_own(library, 1), _own(library, 2)) == (("Shore line", "ocean"), ("first", "Shore line", "tide"))
    assert times.isdisjoint(item.updated_at for item in library.search.find(ItemQuery(limit=200)).items)
    found = [_found(library, text) for text in ("sea", "shore", "tag:sea", "tag:SHORE-LINE", '"shore line" tide')]
    assert found == [0, 129, 0, 0, 65]
    assert _found(library, 'tag:"Shore Line"') == 129
    assert get_tag_change(library, action.id) is not None
    assert undo_tags(library, action.id, whole=True)[0].undone == 130
    assert _tags(library) == before
    assert (_own(library, 1), _own(library, 2)) == (("Sea", "ocean"), ("first", "sea", "tide"))
    assert (_found(library, "sea"), _found(library, "shore")) == (129, 0)
    assert get_tag_change(library, action.id) is None
    assert library.counts.faults() == []


def test_two_tags_become_one_and_two_again(library: Store) -> None:
    action = rename_tag(library, "sea", "Ocean").action
    assert _tags(library) == {"first": 65, "ocean": 129, "tide": 65}
    assert (_own(library, 1), _own(library, 2)) == (("ocean",), ("first", "Ocean", "tide"))
    undo_tags(library, action.id, whole=True)
    assert _tags(library) == {"first": 65, "ocean": 64, "sea": 129, "tide": 65}
    assert library.counts.faults() == []


def test_a_tag_gets_another_spelling(library: Store) -> None:
    action = rename_tag(library, "tide", "TÎDE").action
    assert [one.name for one in library.counts.suggest("tag", "tide")] == ["TÎDE"]
    assert _own(library, 2) == ("first", "sea", "TÎDE")
    assert _tags(library)["tide"] == 65
    undo_tags(library, action.id, whole=True)
    assert _own(library, 2) == ("first", "sea", "tide")


def test_a_tag_is_removed_and_comes_back(library: Store) -> None:
    action = delete_tag(library, "tide").action
    assert "tide" not in _tags(library)
    assert _own(library, 2) == ("first", "sea")
    undo_tags(library, action.id, whole=True)
    assert _tags(library)["tide"] == 65
    assert library.counts.faults() == []


@pytest.mark.usefixtures("small_parts")
def test_many_items_are_renamed_by_a_job_that_goes_on_where_it_was(library: Store) -> None:
    done = rename_tag(library, "sea", "shore")
    assert done.action.changed == 20
    assert done.job is not None
    reports: list[str] = []
    retrieval: Any = Retrieval(Settings())
    result = asyncio.run(change.bulk_job(done.job, library, retrieval, reports.append, reparse=reparse_one))
    assert result.report == {"action": done.action.id, "done": 130}
    assert reports[0] == "40 pages done"
    assert _tags(library) == {"first": 65, "ocean": 64, "shore": 129, "tide": 65}
    undone, job = undo_tags(library, done.action.id)
    assert (undone.undone, job is not None) == (20, True)
    assert job is not None
    asyncio.run(change.bulk_job(job, library, retrieval, reports.append, reparse=reparse_one))
    assert _tags(library) == {"first": 65, "ocean": 64, "sea": 129, "tide": 65}
    assert library.counts.faults() == []


@pytest.mark.usefixtures("small_parts")
def test_a_rename_that_was_undone_does_not_go_on(library: Store) -> None:
    done = rename_tag(library, "sea", "shore")
    undo_tags(library, done.action.id)
    assert done.job is not None
    retrieval: Any = Retrieval(Settings())
    asyncio.run(change.bulk_job(done.job, library, retrieval, lambda _: None, reparse=reparse_one))
    assert _tags(library)["sea"] == 129


@pytest.mark.usefixtures("small_parts")
def test_a_rename_ends_though_so_much_followed_that_it_is_forgotten(library: Store) -> None:
    done = rename_tag(library, "sea", "shore")
    library.actions.remove(done.action.id)
    assert done.job is not None
    retrieval: Any = Retrieval(Settings())
    asyncio.run(change.bulk_job(done.job, library, retrieval, lambda _: None, reparse=reparse_one))
    assert _tags(library) == {"first": 65, "ocean": 64, "shore": 129, "tide": 65}


def test_what_changed_since_a_rename_stays_when_it_is_undone(library: Store) -> None:
    item = library.items.by_url("https://example.com/page/2")
    assert item is not None
    action = rename_tag(library, "sea", "shore").action
    change_item(library, item.id, ItemChange(add_tags=("new",), remove_tags=("tide",)))
    undo_tags(library, action.id, whole=True)
    assert _own(library, 2) == ("first", "sea", "new")


def test_what_is_not_a_tag_is_refused(library: Store) -> None:
    with pytest.raises(NotFound, match="No page has the tag"):
        delete_tag(library, "nothing")
    assert library.actions.list() == ()
    for name in ("", " # ", "a,b", "x" * 300):
        with pytest.raises(InvalidQuery):
            rename_tag(library, "sea", name)
