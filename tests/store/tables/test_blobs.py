"""Kept files: stored once, found by item and by address, collected after the last use. On both engines."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.errors import NotFound, StoreError
from pagekeep.model import Item, ItemBlob
from pagekeep.store import Store
from pagekeep.store.blob_files import BlobFolder
from tests.store.making import NOW, make_item, make_raw, moment

LATER = "2025-04-19T10:30:00.000000Z"
MUCH_LATER = "2025-05-19T10:30:00.000000Z"


def save(library: Store, number: int = 0, domain: str = "example.com") -> Item:
    return library.upsert(make_item(number, user_id=library.user_id, domain=domain), make_raw())


def keep(library: Store, item: Item, body: bytes, source: str = "https://example.com/a.png") -> ItemBlob:
    name = library.put_blob(body, NOW)
    link = ItemBlob("picture", source, "kept", NOW, "image/png", name, len(body), 4, 3)
    library.link_blobs(item.id, [link])
    return link


def folder(library: Store) -> BlobFolder:
    if library._engine.blobs is None:
        pytest.skip("The database holds the files.")
    return library._engine.blobs


def test_file_is_stored_once_and_returned_as_it_was(library: Store) -> None:
    first, second = save(library, 1), save(library, 2)
    links = [keep(library, item, b"pixels") for item in (first, second)]
    assert links[0].hash == hashlib.sha256(b"pixels").hexdigest()
    assert library.blob(links[0].hash) == b"pixels"
    assert [library.item_blobs(item.id) for item in (first, second)] == [(links[0],), (links[1],)]
    assert library.storage().blobs.count == 1
    assert library.blob_bytes() == 6
    assert library.check() == []


def test_compressed_file_takes_less_and_is_returned_as_it_was(library: Store) -> None:
    body = b"<p>words</p>" * 1_000
    name = library.put_blob(body, NOW, compress=True)
    assert library.blob(name) == body
    assert library.put_blob(body, NOW) == name  # stays as it is stored
    assert library.blob_bytes() < 1_000


def test_file_left_out_is_noted_with_its_reason(library: Store) -> None:
    item = save(library)
    link = ItemBlob("picture", "https://example.com/b.png", "left_out", NOW, reason="too_large", size=10**12)
    library.link_blobs(item.id, [link])
    assert library.item_blobs(item.id) == (link,)
    assert library.find_source(link.source, ("picture",)) is None
    assert library.storage().left_out == 1
    kept = replace(keep(library, item, b"now it is there", link.source))
    assert library.item_blobs(item.id) == (kept,)


def test_files_are_found_by_role_item_and_address(library: Store) -> None:
    item, other = save(library, 1), save(library, 2)
    name = library.put_blob(b"small", NOW)
    small = ItemBlob("thumbnail", "https://example.com/a.png", "kept", NOW, "image/png", name, 5, 4, 3)
    versions = [replace(small, role="screenshot", variant=moment(minute), position=minute) for minute in range(3)]
    library.link_blobs(item.id, [small, *versions])
    assert library.item_blobs(item.id, ("thumbnail",)) == (small,)
    assert library.item_blobs(item.id, ("screenshot", "pdf")) == tuple(versions)
    assert library.blobs_of([item.id, other.id], "thumbnail") == {item.id: (small,)}
    assert library.blobs_of([], "thumbnail") == {}
    assert library.find_source(small.source, ("thumbnail",)) == small
    assert library.find_source(small.source, ("picture",)) is None
    library.replace_links(item.id, ("screenshot",), versions[:1])
    assert library.item_blobs(item.id, ("screenshot",)) == (versions[0],)


def test_other_users_see_nothing(opened: Callable[..., Store]) -> None:
    own, other = opened(), opened("somebody-else")
    item = save(own)
    link = keep(own, item, b"private")
    assert link.hash is not None
    with pytest.raises(NotFound):
        other.blob(link.hash)
    assert other.find_source(link.source, ("picture",)) is None
    assert other.item_blobs(item.id) == ()
    with pytest.raises(NotFound):
        other.link_blobs(item.id, [link])


def test_file_that_is_not_stored_cannot_be_linked(library: Store) -> None:
    item = save(library)
    with pytest.raises(StoreError):
        library.link_blobs(item.id, [ItemBlob("picture", "x", "kept", NOW, "image/png", "f" * 64, 1)])
    assert library.item_blobs(item.id) == ()


def test_unused_file_goes_only_after_the_grace_period(library: Store) -> None:
    item = save(library)
    link = keep(library, item, b"pixels")
    assert link.hash is not None
    assert library.collect_blobs(LATER, NOW).count == 0
    library.delete(item.id, NOW)
    assert library.collect_blobs(LATER, MUCH_LATER).count == 0  # in the trash it can still be restored
    library.purge()
    first = library.collect_blobs(LATER, NOW)
    assert (first.count, first.waiting) == (0, 1)
    assert library.blob(link.hash) == b"pixels"
    second = library.collect_blobs(MUCH_LATER, MUCH_LATER)
    assert (second.count, second.bytes, second.waiting) == (1, 6, 0)
    with pytest.raises(NotFound):
        library.blob(link.hash)
    assert library.blob_bytes() == 0
    if library._engine.blobs is not None:
        assert list(library._engine.blobs.files()) == []


def test_file_that_is_used_again_stays(library: Store) -> None:
    item = save(library)
    keep(library, item, b"pixels")
    library.unlink_blobs(item.id, ("picture",))
    library.collect_blobs(NOW, NOW)
    keep(library, item, b"pixels")
    assert library.collect_blobs(MUCH_LATER, MUCH_LATER).count == 0
    library.unlink_blobs(item.id, ("picture",))
    library.put_blob(b"pixels", MUCH_LATER)  # just before it is linked
    assert library.collect_blobs(MUCH_LATER, LATER).count == 0


def test_file_that_is_about_to_be_linked_survives_a_collection_at_once(library: Store) -> None:
    item = save(library)
    keep(library, item, b"no longer used")
    library.unlink_blobs(item.id, ("picture",))
    library.collect_blobs(NOW, NOW)  # which notes that it is unused
    name = library.put_blob(b"about to be linked", LATER)
    assert library.collect_blobs(LATER, LATER, at_once=True).count == 1
    assert library.blob(name) == b"about to be linked"
    assert library.collect_blobs(MUCH_LATER, MUCH_LATER, at_once=True).count == 1


def test_collection_leaves_files_of_other_users(opened: Callable[..., Store]) -> None:
    own, other = opened(), opened("somebody-else")
    link = keep(other, save(other), b"both have it")
    item = save(own)
    keep(own, item, b"both have it")
    own.unlink_blobs(item.id, ("picture",))
    own.collect_blobs(NOW, NOW)
    assert own.collect_blobs(MUCH_LATER, MUCH_LATER).count == 1
    assert link.hash is not None
    assert other.blob(link.hash) == b"both have it"


def test_files_that_a_killed_process_left_are_removed_when_old(library: Store) -> None:
    blobs = folder(library)
    keep(library, save(library), b"used")
    name = hashlib.sha256(b"left over").hexdigest()
    blobs.write(name, None, b"left over")
    draft = blobs.path(name, None).with_name(".part-1-ab")
    draft.write_bytes(b"left")
    library.collect_blobs(NOW, NOW)
    assert draft.exists()
    assert blobs.path(name, None).exists()
    for path in (draft, blobs.path(name, None)):
        os.utime(path, (0, 0))
    library.collect_blobs(NOW, NOW)
    assert not draft.exists()
    assert [file.size for file in blobs.files()] == [4]


def test_missing_and_damaged_files_are_reported(library: Store) -> None:
    blobs = folder(library)
    item = save(library)
    names = [str(keep(library, item, body, f"https://example.com/{body!r}").hash) for body in (b"one", b"two")]
    blobs.path(names[0], None).unlink()
    blobs.path(names[1], None).write_bytes(b"owt")
    faults = library.check()
    assert sorted(fault.split()[-2] for fault in faults) == ["from", "is"]
    for name in names:
        with pytest.raises(StoreError):
            library.blob(name)
    library.put_blob(b"one", NOW)  # saving again repairs it
    assert library.blob(names[0]) == b"one"


def test_full_disk_is_a_clear_error_and_leaves_no_row(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = folder(library)

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="disk is full"):
            library.put_blob(b"pixels", NOW)
    assert library.blob_bytes() == 0
    assert list(blobs.files()) == []


def test_storage_counts_roles_and_sites(library: Store) -> None:
    item, other = save(library, 1), save(library, 2, domain="other.example")
    keep(library, item, b"x" * 100)
    keep(library, other, b"x" * 100)
    name = library.put_blob(b"y" * 50, NOW)
    library.link_blobs(other.id, [ItemBlob("thumbnail", "t", "kept", NOW, "image/png", name, 50)])
    library.put_blob(b"z" * 7, NOW)
    found = library.storage()
    assert {role: (use.count, use.bytes) for role, use in found.roles.items()} == {
        "picture": (1, 100),
        "thumbnail": (1, 50),
    }
    assert (found.blobs.bytes, found.unused.bytes) == (157, 7)
    raw = found.raw_pages.bytes
    assert found.sites == (("other.example", 150 + raw), ("example.com", 100 + raw))


def test_folder_is_beside_the_library(library: Store, where: str) -> None:
    folder(library)
    name = library.put_blob(b"pixels", NOW)
    assert (Path(f"{where}.blobs") / name[:2] / name).read_bytes() == b"pixels"
