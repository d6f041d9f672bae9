"""Failed saves: a state of items, which are then in one list only, and count in no other."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from pagekeep.model import Filter, Item, ItemQuery, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, parse_query
from tests.store.making import make_item, moment


def put(library: Store, name: str, **about: object) -> Item:
    url = f"https://example.com/{name}"
    return library.items.save(
        make_item(user_id=library.user_id, url=url, tags=["harbour"], quality="bookmark", **about), None
    )


def found(library: Store, text: str) -> list[str]:
    return sorted(item.url.rpartition("/")[2] for item in library.search.find(parse_query(text)).items)


@pytest.mark.parametrize("about", [{}, {"archived": True}])
def test_a_failed_save_is_in_one_list_only(library: Store, about: dict[str, bool]) -> None:
    put(library, "kept", **about)
    put(library, "lost", failed=True, **about)
    for text in ("", "tag:harbour", "domain:example.com", "quality:bookmark", "-is:failed", "is:unread"):
        assert found(library, text) == ["kept"], text
    for text in ("is:failed", "is:failed tag:harbour", "is:failed quality:bookmark"):
        assert found(library, text) == ["lost"], text
    assert [item.url[-4:] for item in library.search.find(ItemQuery()).items] == ["kept"]
    assert [item.url[-4:] for item in library.search.find(ItemQuery(filters=item_filters(failed=True))).items] == [
        "lost"
    ]
    assert library.search.count((Filter("is", "failed"),)) == 1


def test_counts_agree_with_the_lists_through_every_change(library: Store) -> None:
    put(library, "kept")
    item, action = put(library, "lost", failed=True), str(uuid.uuid4())

    def check(*, tags: int = 1, **states: int) -> None:
        counts = library.counts.get(["state", "tag", "quality"])
        assert counts["state"] == states
        assert counts["tag"]["harbour"] == tags
        assert counts["quality"] == {"bookmark": states["all"]}
        assert library.search.count(()) == states["all"] == len(library.search.find(ItemQuery()).items)
        assert library.search.count((Filter("is", "failed"),)) == states.get("failed", 0)
        assert library.counts.faults() == []

    check(all=1, inbox=1, unread=1, failed=1)
    library.reading.change(item.id, lambda old: replace(old, state="read", read_at=moment(5), updated_at=moment(5)))
    check(all=1, inbox=1, unread=1, failed=1)
    library.actions.add(action, "Kept as a bookmark", moment(6))
    library.actions.change(action, [item.id], ItemChange(failed=False), moment(6))
    check(all=2, inbox=2, unread=1, read=1, tags=2)
    library.actions.undo(action, 10, moment(7))
    check(all=1, inbox=1, unread=1, failed=1)
    library.reading.change(item.id, lambda old: replace(old, state="reading", read_at=None, updated_at=moment(8)))
    library.items.set_metadata(item.id, moment(8), tags=("harbour", "night"))
    assert "night" not in library.counts.get(["tag"])["tag"]
    library.items.set_metadata(item.id, moment(8), tags=("harbour",))
    library.items.delete(item.id, moment(9))
    check(all=1, inbox=1, unread=1, trash=1)
    assert found(library, "is:deleted") == ["lost"]
    library.items.restore(item.id, moment(10))
    check(all=1, inbox=1, unread=1, failed=1)
    library.items.delete(item.id, moment(11))
    library.items.purge()
    check(all=1, inbox=1, unread=1)


def test_a_new_extraction_of_the_page_ends_the_state(library: Store) -> None:
    item = put(library, "lost", failed=True)
    assert library.items.save(make_item(user_id=library.user_id, url=item.url), None).metadata.failed is False
    assert found(library, "is:failed") == []


def test_tasks_that_failed_are_not_saves(library: Store) -> None:
    for url, full in (("pagekeep:reparse/1", "pagekeep:reparse"), ("https://example.com/a", "https://example.com/a")):
        job = library.jobs.add(url, full, {}, moment(1))
        library.jobs.lease("w", moment(2), moment(3), job_id=job.id)
        library.jobs.fail(job.id, "w", {"type": "NotFound", "message": "x", "suggestions": []}, retry_at=None)
    assert [job.url for job in library.jobs.failed_tasks()] == ["pagekeep:reparse/1"]
    assert library.jobs.failed_tasks(without="pagekeep:reparse") == ()
    library.jobs.add("https://example.com/b", "https://example.com/b", {}, moment(1))
    assert library.jobs.unfinished_urls(["https://example.com/a", "https://example.com/b"]) == {"https://example.com/b"}
