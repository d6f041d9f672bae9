"""Backup folders: each backup adds what is new, restores on both engines, and survives being killed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pagekeep.errors import NotFound, StoreError
from pagekeep.model.archive import ItemBlob
from pagekeep.store import Store, open_store, parse_query
from pagekeep.store.backup import backup_folder
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, make_raw

LATER = "2025-03-20T10:30:00.000000Z"
PAGES = 60


def fill(library: Store, count: int = PAGES) -> list[str]:
    ids = []
    for number in range(count):
        item = make_item(number, user_id=library.user_id, tags=["sea"], content=f"Words of page {number}. " * 20)
        ids.append(library.items.save(item, replace(make_raw(f"<p>{number}</p>".encode() * 30), headers={"a": "b"})).id)
    name = library.blobs.put(b"picture" * 99, NOW)
    packed = library.blobs.put(b"copy" * 99, NOW, compress=True)
    for item_id in ids[:3]:
        links = [
            ItemBlob("picture", "https://example.com/a.png", "kept", NOW, "image/png", name, 693),
            ItemBlob("page_copy", "https://example.com/", "kept", NOW, "text/html", packed, 396),
        ]
        library.blobs.link(item_id, links)
    return ids


def contents(library: Store) -> list[Any]:
    """Everything about the items of a library."""
    return [
        (
            replace(library.items.get(item_id), user_id=""),
            library.items.raw(item_id),
            library.blobs.of_item(item_id),
            [library.blobs.get(link.hash) for link in library.blobs.of_item(item_id) if link.hash],
        )
        for item_id in sorted(library.items.all_ids())
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backup"


@pytest.fixture
def restored(tmp_path: Path, opened: Opener) -> Callable[[str, Path], Store]:
    """Restores the newest state to one of the engines."""

    def run(engine: str, folder: Path) -> Store:
        library = (
            opened(f"restored {uuid4()}") if engine == "same" else open_store(tmp_path / "restored.db", "restored")
        )
        library.restore_folder(folder, backup_folder.read_state(folder))
        return library

    return run


@pytest.mark.parametrize("engine", ["same", "sqlite"])
def test_backup_restores_to_an_equal_library(
    library: Store, folder: Path, restored: Callable[[str, Path], Store], engine: str
) -> None:
    fill(library)
    report = library.backup_folder(folder, NOW, {"config.toml": b"a = 1"})
    assert (report.items, report.damaged) == (PAGES, [])
    state = backup_folder.read_state(folder)
    assert backup_folder.check(folder, state) == []
    assert backup_folder.read_object(folder, state["files"]["config.toml"]) == b"a = 1"
    copy = restored(engine, folder)
    assert contents(copy) == contents(library)
    assert copy.check() == []
    assert dict(copy.tags.counts()) == {"sea": PAGES}
    assert len(copy.search.find(parse_query('"page 7"')).hits) == 1


def test_second_backup_adds_only_what_is_new(library: Store, folder: Path) -> None:
    ids = fill(library)
    first = library.backup_folder(folder, NOW, {})
    assert first.added > PAGES
    assert library.backup_folder(folder, LATER, {}).added == 0
    library.items.set_metadata(ids[0], LATER, pinned=True)
    library.items.save(make_item(PAGES, user_id=library.user_id), make_raw(b"<p>new</p>"))
    third = library.backup_folder(folder, LATER, {})
    # The new page, and the chunks of two items, a number, a raw page and a body; each new row may split its chunk in two.
    assert third.added <= 10
    assert len(backup_folder.states(folder)) == 3


def test_earlier_state_can_be_restored(library: Store, folder: Path, tmp_path: Path) -> None:
    fill(library, 3)
    first = library.backup_folder(folder, NOW, {}).state
    before = contents(library)
    library.items.save(make_item(9, user_id=library.user_id), None)
    library.backup_folder(folder, LATER, {})
    copy = open_store(tmp_path / "early.db", "early")
    assert copy.restore_folder(folder, backup_folder.read_state(folder, first)).items == 3
    assert contents(copy) == before
    copy.close()


def test_damage_is_found_and_nothing_is_restored(library: Store, folder: Path, tmp_path: Path) -> None:
    fill(library, 20)
    library.backup_folder(folder, NOW, {})
    state = backup_folder.read_state(folder)
    objects = sorted(path for path in (folder / "objects").rglob("*") if path.is_file())
    for path in objects[::4]:
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 0xFF]))
        assert backup_folder.check(folder, state), path
        path.write_bytes(whole)
    objects[0].unlink()
    copy = open_store(tmp_path / "copy.db", "copy")
    with pytest.raises(StoreError):
        copy.restore_folder(folder, state)
    assert list(copy.items.all_ids()) == []
    copy.close()


def test_damaged_state_is_refused(library: Store, folder: Path) -> None:
    library.backup_folder(folder, NOW, {})
    (path,) = (folder / "states").glob("*.json")
    document = json.loads(path.read_text())
    document["state"]["damaged"] = ["x"]
    path.write_text(json.dumps(document))
    with pytest.raises(StoreError, match="damaged"):
        backup_folder.read_state(folder)


def test_missing_file_of_the_library_is_reported_and_the_rest_is_kept(folder: Path, tmp_path: Path) -> None:
    library = open_store(tmp_path / "library.db", "ada")
    ids = fill(library, 3)
    name = library.blobs.of_item(ids[0])[1].hash or ""
    (path,) = Path(f"{tmp_path}/library.db.blobs").rglob(f"{name}*")
    path.unlink()
    assert library.backup_folder(folder, NOW, {}).damaged == [name]
    copy = open_store(tmp_path / "copy.db", "ada")
    state = backup_folder.read_state(folder)
    assert backup_folder.check(folder, state) == [f"The kept file {name} is missing or damaged."]
    with pytest.raises(StoreError, match=name):
        copy.restore_folder(folder, state)
    done = copy.restore_folder(folder, state, what_can_be=True)
    assert done.items == 3
    assert f"The kept file {name} is missing or damaged." in done.left_out
    assert len(copy.blobs.of_item(ids[0])) == 1
    for store in (library, copy):
        store.close()


def flip(path: Path) -> bytes:
    """Change the last byte of a file, and return what it was."""
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    return whole


def test_damaged_objects_are_written_again_from_the_library(library: Store, folder: Path) -> None:
    fill(library, 20)
    first = library.backup_folder(folder, NOW, {"config.toml": b"a = 1"})
    objects = sorted(path for path in (folder / "objects").rglob("*") if path.is_file())
    before = [flip(path) for path in objects]
    objects[0].unlink()
    report = library.backup_folder(folder, LATER, {"config.toml": b"a = 1"})
    assert (report.mended, report.added, report.library_intact) == (len(objects) - 1, 1, True)
    assert [path.read_bytes() for path in objects] == before
    for name in (first.state, report.state):
        assert backup_folder.check(folder, backup_folder.read_state(folder, name)) == []


def test_what_the_library_has_lost_is_kept_and_reported(
    library: Store, folder: Path, restored: Callable[[str, Path], Store]
) -> None:
    ids = fill(library, 5)
    library.backup_folder(folder, NOW, {})
    before = contents(library)
    user = {"user": library.user_id}
    lost = sorted(library._engine.read(lambda tx: tx.all("SELECT hash FROM raw_bodies WHERE user_id = :user", **user)))
    library._engine.write(
        lambda tx: tx.run(
            "UPDATE raw_bodies SET body = :body WHERE user_id = :user AND hash = :hash",
            **user,
            body=b"x",
            hash=lost[0][0],
        )
    )
    library._engine.write(
        lambda tx: tx.run(
            "UPDATE items SET content = REPLACE(content, 'Words', 'Wordz') WHERE user_id = :user AND id = :id",
            **user,
            id=ids[0],
        )
    )
    report = library.backup_folder(folder, LATER, {})
    assert (report.recovered, report.recovered_texts, report.complete) == ([lost[0][0]], [ids[0]], True)
    assert not report.library_intact
    assert contents(restored("same", folder)) == before


def test_what_is_lost_everywhere_is_left_out_and_listed(library: Store, folder: Path, opened: Opener) -> None:
    ids = fill(library, 5)
    library._engine.write(
        lambda tx: tx.run(
            "UPDATE items SET content = REPLACE(content, 'Words', 'Wordz') WHERE user_id = :user AND id = :id",
            user=library.user_id,
            id=ids[0],
        )
    )
    assert library.backup_folder(folder, NOW, {}).damaged_texts == [ids[0]]
    state = backup_folder.read_state(folder)
    assert backup_folder.check(folder, state) == [f"The text of the item {ids[0]} is damaged."]
    copy = opened(f"copy {uuid4()}")
    with pytest.raises(StoreError, match=ids[0]):
        copy.restore_folder(folder, state)
    done = copy.restore_folder(folder, state, what_can_be=True)
    assert (done.items, len(done.left_out)) == (5, 1)
    assert copy.items.get(ids[0]).content.startswith("Wordz")


def test_rows_whose_items_are_lost_are_left_out_and_the_items_listed(
    library: Store, folder: Path, opened: Opener
) -> None:
    ids = fill(library)
    library.backup_folder(folder, NOW, {})
    state = backup_folder.read_state(folder)
    flip(folder / "objects" / (chunk := state["tables"]["items"][1])[:2] / f"{chunk}.zst")
    copy = opened(f"copy {uuid4()}")
    done = copy.restore_folder(folder, state, what_can_be=True)
    saved = set(copy.items.all_ids())
    assert (len(saved), done.items) == (done.items, done.items)
    assert 0 < done.items < PAGES
    listed = "\n".join(done.left_out)
    assert all(item_id in listed for item_id in set(ids) - saved)
    known = {entry[0].id: entry for entry in contents(library)}
    assert all(entry == known[entry[0].id] for entry in contents(copy))
    assert copy.check() == []


def test_states_of_one_second_are_in_their_order(library: Store, folder: Path) -> None:
    made = [library.backup_folder(folder, f"{NOW[:20]}{number:06}Z", {}).state for number in range(20)]
    assert backup_folder.states(folder) == made


def test_folder_of_something_else_is_left_alone(library: Store, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear Ada")
    with pytest.raises(StoreError, match="not a backup"):
        library.backup_folder(tmp_path / "letters", NOW, {})
    with pytest.raises(NotFound):
        backup_folder.read_state(tmp_path / "letters")
    assert os.listdir(tmp_path / "letters") == ["a.txt"]


def test_library_that_is_not_empty_is_not_restored_over(library: Store, folder: Path) -> None:
    fill(library, 2)
    library.backup_folder(folder, NOW, {})
    with pytest.raises(StoreError, match="not empty"):
        library.restore_folder(folder, backup_folder.read_state(folder))


def test_file_backup_has_the_kept_files_beside_it(tmp_path: Path) -> None:
    library = open_store(tmp_path / "library.db", "ada")
    ids = fill(library, 3)
    library.backup(str(tmp_path / "copy.db"))
    copy = open_store(tmp_path / "copy.db", "ada")
    assert contents(copy) == contents(library)
    copy.close()
    library.blobs.replace_links(ids[0], ["picture"], ())
    library.backup(str(tmp_path / "copy.db"))
    name = library.blobs.of_item(ids[1])[1].hash or ""
    (path,) = Path(f"{tmp_path}/library.db.blobs").rglob(f"{name}*")
    path.unlink()
    assert library.backup(str(tmp_path / "copy.db")).recovered == [name]  # the copy has it already
    assert library.backup(str(tmp_path / "other.db")).damaged == [name]
    library.close()
