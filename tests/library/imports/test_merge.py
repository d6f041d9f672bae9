from __future__ import annotations

from dataclasses import replace
from typing import Any

from pagekeep.library.imports.build import has_content, merge_items, was_fetched
from pagekeep.model import Item
from tests.store.making import make_item, moment


def item(content: str = "bookmark", *, source: str = "import:pocket", **said: Any) -> Item:
    level = "bookmark" if content == "bookmark" else "article"
    return replace(make_item(1, content=content, quality=level, **said), source=source)


def test_tags_are_those_of_both_and_the_earliest_moment_stays() -> None:
    old, new = item(tags=["Sea", "fog"], saved_at=moment(9)), item(tags=["SEA", "wind"], saved_at=moment(5))
    result = merge_items(old, new)
    assert list(result.metadata.tags) == ["Sea", "fog", "wind"]
    assert result.saved_at == moment(5)
    assert merge_items(new, old).saved_at == moment(5)
    assert (result.id, result.created_at) == (old.id, old.created_at)


def test_archived_and_pinned_hold_if_either_says_so() -> None:
    result = merge_items(item(archived=True), item(pinned=True))
    assert (result.metadata.archived, result.metadata.pinned) == (True, True)
    assert not merge_items(item(), item()).metadata.archived


def test_content_that_is_there_stays() -> None:
    old, new = item("A page.", source="web"), item("Another page.")
    assert merge_items(old, new).content == "A page."
    assert merge_items(item("A page."), new).content == "A page."


def test_content_that_the_export_carries_takes_the_place_of_a_bookmark() -> None:
    for old in (item(), item(source="web")):
        result = merge_items(old, item("A page.", title="New", strategy="readability"))
        assert (result.content, result.title, result.metadata.quality) == ("A page.", "New", "article")
        assert result.id == old.id


def test_a_bookmark_does_not_take_the_place_of_what_was_fetched() -> None:
    old = item(source="web", title="From the page")
    assert merge_items(old, item(title="From the export")).title == "From the page"


def test_a_title_is_better_than_none() -> None:
    old = replace(item(), title="https://example.com/page/1")
    assert merge_items(old, item(title="A title")).title == "A title"


def test_when_nothing_is_new_the_item_is_untouched() -> None:
    old = item(tags=["a"], archived=True)
    new = replace(item(tags=["A"], archived=True), saved_at=moment(999), updated_at=moment(999))
    assert merge_items(old, new) is old
    changed = merge_items(old, replace(new, last_opened_at=moment(7)))
    assert (changed.last_opened_at, changed.updated_at) == (moment(7), moment(999))


def test_a_deleted_page_comes_back() -> None:
    assert merge_items(replace(item(), deleted_at=moment(3)), item()).deleted_at is None


def test_a_page_that_was_found_worse_counts_as_fetched() -> None:
    assert not was_fetched(item())
    assert was_fetched(item(source="web"))
    assert was_fetched(item(last_error={"type": "Worse", "message": "", "at": ""}))
    assert not was_fetched(item(last_error={"type": "FetchTimeout", "message": "", "at": ""}))


def test_what_the_reader_wrote_is_content() -> None:
    assert has_content(item(edited=True))
    assert not has_content(item())
