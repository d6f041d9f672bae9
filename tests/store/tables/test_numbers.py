"""Numbers of items: given once, never to another, and the same in a restored library."""

from __future__ import annotations

from pathlib import Path

from pagekeep.library.items.annotations import annotation_number, get_numbered_annotation
from pagekeep.library.items.find import find_hashed, hash_address, number_items
from pagekeep.model import Annotation, ItemQuery, NewItem, item_filters
from pagekeep.store import Store, open_store
from pagekeep.store.backup import backup_folder
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment


def fill(library: Store, count: int = 3) -> list[str]:
    return [library.items.save(make_item(n, user_id=library.user_id), None).id for n in range(count)]


def test_each_user_counts_from_one(opened: Opener) -> None:
    for user in ("ada", "grace"):
        library = opened(f"{user}-{opened().user_id}")
        ids = fill(library)
        assert library.items.numbers(ids) == dict(zip(ids, (1, 2, 3), strict=True))
        assert library.items.by_number([2, 9, 0, 2**40]) == {2: ids[1]}


def test_no_number_is_given_twice(library: Store) -> None:
    ids = fill(library)
    library.items.delete(ids[2], NOW)
    library.items.purge()
    new = library.items.save(make_item(7, user_id=library.user_id), None)
    assert library.items.numbers([new.id]) == {new.id: 4}


def test_a_second_save_and_a_batch_keep_the_order(library: Store) -> None:
    ids = fill(library, 2)
    library.items.save(make_item(0, user_id=library.user_id, title="Again"), None)
    batch = [NewItem(make_item(n, user_id=library.user_id)) for n in (1, 5, 6)]
    stored = [item.id for item, _ in library.items.save_many(batch, lambda old, _: old)]
    assert library.items.numbers([ids[0], *stored]) == {ids[0]: 1, ids[1]: 2, stored[1]: 3, stored[2]: 4}


def test_numbers_survive_dump_and_restore(library: Store, tmp_path: Path) -> None:
    ids = fill(library, 4)
    library.items.delete(ids[0], NOW)
    library.items.purge()
    library.backup_folder(tmp_path / "backup", NOW, {})
    copy = open_store(tmp_path / "copy.db", "copy")
    copy.restore_folder(tmp_path / "backup", backup_folder.read_state(tmp_path / "backup"))
    assert copy.items.numbers(ids) == library.items.numbers(ids)
    assert copy.items.numbers([copy.items.save(make_item(9, user_id="copy"), None).id]).popitem()[1] == 5
    copy.close()


def test_changed_since_and_offset(library: Store) -> None:
    ids = fill(library, 5)
    for minute, item_id in enumerate(ids[:3]):
        library.items.set_metadata(item_id, moment(700 + minute), pinned=True)
    filters = item_filters(changed_since=moment(701))
    assert library.search.count(filters) == 2
    query = ItemQuery(filters=filters, order="updated", limit=1)
    page = library.search.find(query)
    assert page.next is not None
    assert [
        hit.item.id for hit in library.search.find(ItemQuery(filters=filters, order="updated", after=page.next)).hits
    ] == [ids[1]]
    skipped = ItemQuery(filters=filters, order="updated", offset=1)
    assert [item.id for item in library.search.find(skipped).items] == [ids[1]]


def test_annotations_by_number_and_addresses_by_hash(library: Store) -> None:
    item = library.items.get(fill(library, 1)[0])
    for first in ("9f", "1f"):  # of two ids that differ in the first bit, the number is the same
        library.annotations.put(
            Annotation(f"{first}000000-0000-4000-8000-00000000000{first[0]}", item.id, "q", "", "", "", None, NOW, NOW)
        )
    other = library.annotations.put(
        Annotation("ffffffff-0000-4000-8000-000000000001", item.id, "x", "", "", "", None, NOW, NOW)
    )
    assert get_numbered_annotation(library, annotation_number(other)) == other
    assert len(library.annotations.of_items([item.id])[item.id]) == 3
    number = number_items(library, [item])[item.id]
    both = [hash_address(item.url), hash_address(item.url_full)]
    assert find_hashed(library, [*both, "0" * 40]) == dict.fromkeys(both, number)
