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
    return library.items.save(make_item(number, user_id=library.user_id, domain=domain), make_raw())


def keep(library: Store, item: Item, body: bytes, source: str = "https://example.com/a.png") -> ItemBlob:
    name = library.blobs.put(body, NOW)
    link = ItemBlob("picture", source, "kept", NOW, "image/png", name, len(body), 4, 3)
    library.blobs.link(item.id, [link])
    return link


def folder(library: Store) -> BlobFolder:
    if library._engine.blobs is None:
        pytest.skip("The database holds the files.")
    return library._engine.blobs


def test_file_is_stored_once_and_returned_as_it_was(library: Store) -> None:
    first, second = save(library, 1), save(library, 2)
    links = [keep(library, item, b"pixels") for item in (first, second)]
    assert links[0].hash == hashlib.sha256(b"pixels").hexdigest()
    assert library.blobs.get(links[0].hash) == b"pixels"
    assert [library.blobs.of_item(item.id) for item in (first, second)] == [(links[0],), (links[1],)]
    assert library.blobs.storage().blobs.count == 1
    assert library.blobs.total_bytes() == 6
    assert library.check() == []


def test_compressed_file_takes_less_and_is_returned_as_it_was(library: Store) -> None:
    body = b"<p>words</p>" * 1_000
    name = library.blobs.put(body, NOW, compress=True)
    assert library.blobs.get(name) == body
    assert library.blobs.put(body, NOW) == name  # stays as it is stored
    assert library.blobs.total_bytes() < 1_000


def test_file_left_out_is_noted_with_its_reason(library: Store) -> None:
    item = save(library)
    link = ItemBlob("picture", "https://example.com/b.png", "left_out", NOW, reason="too_large", size=10**12)
    library.blobs.link(item.id, [link])
    assert library.blobs.of_item(item.id) == (link,)
    assert library.blobs.find_source(link.source, ("picture",)) is None
    assert library.blobs.storage().left_out == 1
    kept = replace(keep(library, item, b"now it is there", link.source))
    assert library.blobs.of_item(item.id) == (kept,)


def test_files_are_found_by_role_item_and_address(library: Store) -> None:
    item = save(library, 1)
    name = library.blobs.put(b"small", NOW)
    small = ItemBlob("thumbnail", "https://example.com/a.png", "kept", NOW, "image/png", name, 5, 4, 3)
    versions = [replace(small, role="screenshot", variant=moment(minute), position=minute) for minute in range(3)]
    library.blobs.link(item.id, [small, *versions])
    assert library.blobs.of_item(item.id, ("thumbnail",)) == (small,)
    assert library.blobs.of_item(item.id, ("screenshot", "pdf")) == tuple(versions)
    assert library.blobs.find_source(small.source, ("thumbnail",)) == small
    assert library.blobs.find_source(small.source, ("picture",)) is None
    library.blobs.replace_links(item.id, ("screenshot",), versions[:1])
    assert library.blobs.of_item(item.id, ("screenshot",)) == (versions[0],)


def test_other_users_see_nothing(opened: Callable[..., Store]) -> None:
    own, other = opened(), opened("somebody-else")
    item = save(own)
    link = keep(own, item, b"private")
    assert link.hash is not None
    with pytest.raises(NotFound):
        other.blobs.get(link.hash)
    assert other.blobs.find_source(link.source, ("picture",)) is None
    assert other.blobs.of_item(item.id) == ()
    with pytest.raises(NotFound):
        other.blobs.link(item.id, [link])


def test_file_that_is_not_stored_cannot_be_linked(library: Store) -> None:
    item = save(library)
    with pytest.raises(StoreError):
        library.blobs.link(item.id, [ItemBlob("picture", "x", "kept", NOW, "image/png", "f" * 64, 1)])
    assert library.blobs.of_item(item.id) == ()


def test_unused_file_goes_only_after_the_grace_period(library: Store) -> None:
    item = save(library)
    link = keep(library, item, b"pixels")
    assert link.hash is not None
    assert library.blobs.collect(LATER, NOW).count == 0
    library.items.delete(item.id, NOW)
    assert library.blobs.collect(LATER, MUCH_LATER).count == 0  # in the trash it can still be restored
    library.items.purge()
    first = library.blobs.collect(LATER, NOW)
    assert (first.count, first.waiting) == (0, 1)
    assert library.blobs.get(link.hash) == b"pixels"
    second = library.blobs.collect(MUCH_LATER, MUCH_LATER)
    assert (second.count, second.bytes, second.waiting) == (1, 6, 0)
    with pytest.raises(NotFound):
        library.blobs.get(link.hash)
    assert library.blobs.total_bytes() == 0
    if library._engine.blobs is not None:
        assert list(library._engine.blobs.files()) == []


def test_file_that_is_used_again_stays(library: Store) -> None:
    item = save(library)
    keep(library, item, b"pixels")
    library.blobs.replace_links(item.id, ("picture",), ())
    library.blobs.collect(NOW, NOW)
    keep(library, item, b"pixels")
    assert library.blobs.collect(MUCH_LATER, MUCH_LATER).count == 0
    library.blobs.replace_links(item.id, ("picture",), ())
    library.blobs.put(b"pixels", MUCH_LATER)  # just before it is linked
    assert library.blobs.collect(MUCH_LATER, LATER).count == 0


def test_file_that_is_about_to_be_linked_survives_a_collection_at_once(library: Store) -> None:
    item = save(library)
    keep(library, item, b"no longer used")
    library.blobs.replace_links(item.id, ("picture",), ())
    library.blobs.collect(NOW, NOW)  # which notes that it is unused
    name = library.blobs.put(b"about to be linked", LATER)
    assert library.blobs.collect(LATER, LATER, at_once=True).count == 1
    assert library.blobs.get(name) == b"about to be linked"
    assert library.blobs.collect(MUCH_LATER, MUCH_LATER, at_once=True).count == 1


def test_collection_leaves_files_of_other_users(opened: Callable[..., Store]) -> None:
    own, other = opened(), opened("somebody-else")
    link = keep(other, save(other), b"both have it")
    item = save(own)
    keep(own, item, b"both have it")
    own.blobs.replace_links(item.id, ("picture",), ())
    own.blobs.collect(NOW, NOW)
    assert own.blobs.collect(MUCH_LATER, MUCH_LATER).count == 1
    assert link.hash is not None
    assert other.blobs.get(link.hash) == b"both have it"


def test_files_that_a_killed_process_left_are_removed_when_old(library: Store) -> None:
    blobs = folder(library)
    keep(library, save(library), b"used")
    name = hashlib.sha256(b"left over").hexdigest()
    blobs.write(name, None, b"left over")
    draft = blobs.path(name, None).with_name(".part-1-ab")
    draft.write_bytes(b"left")
    library.blobs.collect(NOW, NOW)
    assert draft.exists()
    assert blobs.path(name, None).exists()
    for path in (draft, blobs.path(name, None)):
        os.utime(path, (0, 0))
    library.blobs.collect(NOW, NOW)
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
            library.blobs.get(name)
    library.blobs.put(b"one", NOW)  # saving again repairs it
    assert library.blobs.get(names[0]) == b"one"


def test_full_disk_is_a_clear_error_and_leaves_no_row(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = folder(library)

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match="disk is full"):
            library.blobs.put(b"pixels", NOW)
    assert library.blobs.total_bytes() == 0
    assert list(blobs.files()) == []


def test_storage_counts_roles_and_sites(library: Store) -> None:
    item, other = save(library, 1), save(library, 2, domain="other.example")
    keep(library, item, b"x" * 100)
    keep(library, other, b"x" * 100)
    name = library.blobs.put(b"y" * 50, NOW)
    library.blobs.link(other.id, [ItemBlob("thumbnail", "t", "kept", NOW, "image/png", name, 50)])
    library.blobs.put(b"z" * 7, NOW)
    found = library.blobs.storage()
    assert {role: (use.count, use.bytes) for role, use in found.roles.items()} == {
        "picture": (1, 100),
        "thumbnail": (1, 50),
    }
    assert (found.blobs.bytes, found.unused.bytes) == (157, 7)
    raw = found.raw_pages.bytes
    assert found.sites == (("other.example", 150 + raw), ("example.com", 100 + raw))


def test_folder_is_beside_the_library(library: Store, where: str) -> None:
    folder(library)
    name = library.blobs.put(b"pixels", NOW)
    assert (Path(f"{where}.blobs") / name[:2] / name).read_bytes() == b"pixels"
