"""A backup in one file: compared with all hashes, mended from the earlier one, and replaced only by a better one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import Conflict, StoreError
from pagekeep.model import ItemBlob
from pagekeep.store import open_store, sqlite
from pagekeep.store.backup import library_file
from pagekeep.store.backup.damage import BackupReport
from tests.store.damage import flip_pages, make_library, pages_of
from tests.store.making import NOW, make_item


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "backup.db"


def back_up(library: Path, target: Path) -> BackupReport:
    with closing(open_store(library)) as store:
        return store.backup(str(target))


def change(library: Path, statement: str) -> None:
    """Change the file behind the library's back."""
    with closing(sqlite3.connect(library)) as connection:
        connection.execute(statement)
        connection.commit()


def keep_picture(library: Path, item_id: str, body: bytes = b"pixels" * 50) -> str:
    with closing(open_store(library)) as store:
        name = store.blobs.put(body, NOW)
        link = ItemBlob("picture", "https://example.com/a.png", "kept", NOW, "image/png", name, len(body))
        store.blobs.link(item_id, [link])
        return name


def kept_file(library: Path, name: str) -> Path:
    return Path(f"{library}.blobs") / name[:2] / name


def test_a_damaged_library_never_replaces_a_good_backup(path: Path, target: Path, tmp_path: Path) -> None:
    make_library(path)
    back_up(path, target)
    good = target.read_bytes()
    flip_pages(path, pages_of(path, "items")[1:2])
    with pytest.raises(StoreError, match="damaged") as caught:
        back_up(path, target)
    assert any("pagekeep repair" in text for text in caught.value.suggestions)
    assert target.read_bytes() == good
    assert sorted(file.name for file in tmp_path.glob("backup*")) == ["backup.db", "backup.db.sha256"]


def test_a_damaged_raw_page_is_taken_from_the_earlier_backup(path: Path, target: Path, tmp_path: Path) -> None:
    make_library(path, 3)
    back_up(path, target)
    change(path, "UPDATE raw_bodies SET body = x'00' WHERE rowid = 2")
    report = back_up(path, target)
    assert (len(report.recovered), report.complete, report.library_intact) == (1, True, False)
    assert library_file.check(target) == []
    first = back_up(path, tmp_path / "other.db")  # which has no earlier one
    assert first.damaged == report.recovered
    assert library_file.check(tmp_path / "other.db") == [f"The raw page {first.damaged[0]} is missing or damaged."]


@pytest.mark.parametrize(
    "damage", ["replace(content, 'Words', 'Wordz')", "CAST(x'61ff62' AS TEXT)"], ids=["letter", "not UTF-8"]
)
def test_a_damaged_text_is_taken_from_the_earlier_backup(path: Path, target: Path, tmp_path: Path, damage: str) -> None:
    ids = make_library(path, 3)
    back_up(path, target)
    change(path, f"UPDATE items SET content = {damage} WHERE seq = 2")
    report = back_up(path, target)
    assert (report.recovered_texts, report.complete) == ([ids[1]], True)
    with closing(open_store(target)) as copy:
        assert copy.items.get(ids[1]).content == "Words of page 1. " * 60
        assert copy.check() == []
    assert back_up(path, tmp_path / "other.db").damaged_texts == [ids[1]]
    assert "The text of the item" in library_file.check(tmp_path / "other.db")[0]


def test_a_damaged_hash_is_taken_from_the_earlier_backup(path: Path, target: Path) -> None:
    ids = make_library(path, 3)
    back_up(path, target)
    change(path, "UPDATE items SET metadata = json_set(metadata, '$.text_hash', 'x') WHERE seq = 2")
    assert back_up(path, target).recovered_texts == [ids[1]]
    assert library_file.check(target) == []


def test_a_damaged_text_does_not_replace_an_older_one_that_is_good(path: Path, target: Path, tmp_path: Path) -> None:
    ids = make_library(path, 3)
    back_up(path, target)
    good = target.read_bytes()
    with closing(open_store(path)) as library:
        library.items.save(make_item(1, content="Other words.", tags=["some"]), None)
    change(path, "UPDATE items SET content = 'Other wordz.' WHERE content = 'Other words.'")
    with pytest.raises(StoreError, match=f"older text that is good, so .* was not replaced.*{ids[1]}"):
        back_up(path, target)
    assert target.read_bytes() == good
    assert back_up(path, tmp_path / "other.db").damaged_texts == [ids[1]]


def test_a_copy_that_was_damaged_on_the_way_is_not_kept(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(path, 3)
    back_up(path, target)
    good = target.read_bytes()
    answers = iter([["page 3 is wrong"], []])
    monkeypatch.setattr(sqlite, "find_broken_rows", lambda _: next(answers))
    with pytest.raises(StoreError, match="The copy is damaged"):
        back_up(path, target)
    assert target.read_bytes() == good


def test_kept_files_are_there_before_the_file_is_replaced(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = make_library(path, 3)
    keep_picture(path, ids[0])
    back_up(path, target)
    good = target.read_bytes()
    name = keep_picture(path, ids[1], b"other pixels" * 50)

    rename = Path.replace

    def die(file: Path, to: Path) -> Path:
        if to == target:
            raise KeyboardInterrupt
        return rename(file, to)

    monkeypatch.setattr(Path, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        back_up(path, target)
    assert target.read_bytes() == good
    assert kept_file(target, name).read_bytes() == b"other pixels" * 50
    assert library_file.check(target) == []


def test_a_backup_of_an_earlier_version_without_a_digest_stays_good_when_the_next_is_killed(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(path, 3)
    back_up(path, target)
    Path(f"{target}.sha256").unlink()
    with closing(open_store(path)) as library:
        library.items.save(make_item(9), None)
    rename = Path.replace

    def die(file: Path, to: Path) -> Path:
        if to == target:
            raise KeyboardInterrupt
        return rename(file, to)

    monkeypatch.setattr(Path, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        back_up(path, target)
    assert library_file.check(target) == []


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parent / "schemas").glob("sqlite-v*.sql")), ids=lambda file: file.stem
)
def test_backups_of_every_past_schema_can_be_checked(file: Path, target: Path) -> None:
    with closing(sqlite3.connect(target)) as connection:
        connection.executescript(file.read_text("utf-8"))
    assert library_file.check(target) == []


def test_a_damaged_kept_file_of_the_copy_is_written_again(path: Path, target: Path) -> None:
    name = keep_picture(path, make_library(path, 3)[0])
    back_up(path, target)
    kept_file(target, name).write_bytes(b"pixelz" * 50)
    assert library_file.check(target) == [f"The kept file {name} is missing or damaged."]
    assert back_up(path, target).library_intact
    assert library_file.check(target) == []


def test_a_kept_file_that_the_library_has_lost_stays_in_the_copy(path: Path, target: Path) -> None:
    name = keep_picture(path, make_library(path, 3)[0])
    back_up(path, target)
    kept_file(path, name).write_bytes(b"pixelz" * 50)
    assert back_up(path, target).recovered == [name]
    assert library_file.check(target) == []
    kept_file(target, name).unlink()
    assert back_up(path, target).damaged == [name]


def test_a_kept_file_that_was_removed_as_unused_is_not_damage(path: Path, target: Path) -> None:
    ids = make_library(path, 3)
    name = keep_picture(path, ids[0])
    with closing(open_store(path)) as library:
        library.blobs.replace_links(ids[0], ["picture"], ())
    kept_file(path, name).unlink()  # as a collection does that runs at the same time
    assert back_up(path, target).library_intact
    assert library_file.check(target) == []


def test_a_flipped_byte_anywhere_in_the_file_is_found(path: Path, target: Path) -> None:
    make_library(path, 3)
    back_up(path, target)
    whole = target.read_bytes()
    assert whole.count(b"Title 1")
    target.write_bytes(whole.replace(b"Title 1", b"Titlf 1"))
    assert "not as it was written" in library_file.check(target)[0]


def test_opening_a_backup_does_not_change_it(path: Path, target: Path) -> None:
    make_library(path, 3)
    back_up(path, target)
    with closing(open_store(target)) as copy:
        assert len(list(copy.items.all_ids())) == 3
    assert library_file.check(target) == []


def test_the_library_itself_and_a_library_in_use_are_not_replaced(path: Path, target: Path) -> None:
    make_library(path, 3)
    with pytest.raises(Conflict, match="the library itself"):
        back_up(path, path)
    back_up(path, target)
    with closing(open_store(target)) as copy:
        copy.items.save(make_item(9), None)
        with pytest.raises(Conflict, match="in use as a library"):
            back_up(path, target)
