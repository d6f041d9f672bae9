from __future__ import annotations

import uuid

from pagekeep.model import Annotation
from pagekeep.store import Store
from pagekeep.store.tables import items
from tests.store.making import NOW, make_item, make_raw, moment


def test_stats_count_what_is_there(library: Store) -> None:
    for number, fields in enumerate(
        (
            {"quality": "article", "pinned": True},
            {"quality": {"level": "article"}},
            {"quality": "bookmark", "archived": True},
            {},
        )
    ):
        library.items.save(
            make_item(number, user_id=library.user_id, content="One two three.", domain=f"{number % 2}.org", **fields),  # type: ignore[arg-type]
            make_raw(b"x" * 100),
        )
    library.items.delete(library.items.get("https://1.org/page/3").id, NOW)
    stats = dict(library.counts.totals())
    assert stats.pop("raw_bytes_packed") > 0
    assert stats == {
        "items": 3,
        "quality": {"article": 2, "bookmark": 1},
        "archived": 1,
        "pinned": 1,
        "failed": 0,
        "deleted": 1,
        "domains": 2,
        "words": 9,
        "raw_pages": 1,
        "raw_bytes": 100,
    }


def test_an_empty_library_has_stats_too(library: Store) -> None:
    assert library.counts.totals()["items"] == library.counts.totals()["words"] == 0


def test_items_of_an_older_parser_or_other_rules_are_stale(library: Store) -> None:
    marks = [
        {"parser_version": 1, "rules_hash": "r"},
        {"parser_version": 2, "rules_hash": "r"},
        {"parser_version": 2, "rules_hash": "s"},
    ]
    made = [
        library.items.save(make_item(n, user_id=library.user_id, saved_at=moment(9 - n), **fields), make_raw()).id  # type: ignore[arg-type]
        for n, fields in enumerate([*marks, {"parser_version": None}])
    ]
    library.items.save(make_item(8, user_id=library.user_id), None)
    deleted = library.items.save(make_item(9, user_id=library.user_id), make_raw())
    library.items.delete(deleted.id, NOW)
    assert list(library.items.stale_ids(parser_version=2, rules_hash=None)) == [made[3], made[0]]
    assert list(library.items.stale_ids(parser_version=2, rules_hash="r")) == [made[3], made[2], made[0]]
    assert list(library.items.stale_ids(parser_version=2, rules_hash="r", limit=2)) == [made[3], made[2]]
    assert list(library.items.stale_ids(parser_version=1, rules_hash=None)) == [made[3]]


def test_each_stale_item_comes_once_while_they_are_read_again(library: Store) -> None:
    count = items._BATCH + 5
    for number in range(count):
        library.items.save(make_item(number, user_id=library.user_id), make_raw())
    seen = []
    for item_id in library.items.stale_ids(parser_version=2, rules_hash=None):
        seen.append(item_id)
        if len(seen) % 2:
            library.items.set_metadata(item_id, NOW, parser_version=2)
    assert len(set(seen)) == len(seen) == count


def test_a_healthy_library_has_no_faults(library: Store) -> None:
    library.items.save(make_item(user_id=library.user_id), make_raw())
    assert library.check() == []


def test_whatever_changes_an_item_or_its_passages_changes_its_version(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    other = library.items.save(make_item(2, user_id=library.user_id), None)
    seen = [dict(library.items.versions())]
    library.items.set_metadata(item.id, moment(5), pinned=True)
    seen.append(dict(library.items.versions()))
    library.annotations.put(Annotation(str(uuid.uuid4()), item.id, "a", "", "", "", None, moment(1), moment(1)))
    seen.append(dict(library.items.versions()))
    assert len({versions[item.id] for versions in seen}) == 3
    assert len({versions[other.id] for versions in seen}) == 1
    library.items.delete(item.id, moment(6))
    assert list(dict(library.items.versions())) == [other.id]


def test_tags_are_counted_whatever_their_case_and_not_for_deleted_items(library: Store) -> None:
    for number, tags in enumerate((("Sea", "lamp"), ("sea",), ("sea", "wall"))):
        library.items.save(make_item(number, user_id=library.user_id, tags=tags), None)
    library.items.delete(library.items.get("https://example.com/page/2").id, NOW)
    assert list(library.tags.counts()) == [("sea", 2), ("lamp", 1)]
