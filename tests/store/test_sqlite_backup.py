"""A backup is verified before it replaces another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import StoreError
from pagekeep.store import open_store, sqlite
from tests.store.damage import flip_pages, make_library, pages_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


def back_up(library: Path, target: Path) -> None:
    with closing(open_store(library)) as store:
        store.backup(str(target))


def test_a_damaged_library_never_replaces_a_good_backup(path: Path, tmp_path: Path) -> None:
    make_library(path)
    target = tmp_path / "backup.db"
    back_up(path, target)
    good = target.read_bytes()
    flip_pages(path, pages_of(path, "items")[1:2])
    with pytest.raises(StoreError, match="damaged") as caught:
        back_up(path, target)
    assert any("pagekeep repair" in text for text in caught.value.suggestions)
    assert target.read_bytes() == good
    assert sorted(file.name for file in tmp_path.glob("backup*")) == ["backup.db"]


def test_a_changed_raw_page_is_damage_too(path: Path, tmp_path: Path) -> None:
    make_library(path, 3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE raw_bodies SET body = x'00' WHERE rowid = 2")
        connection.commit()
    with pytest.raises(StoreError, match="raw page"):
        back_up(path, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


def test_a_text_that_is_not_utf8_is_damage_too(path: Path, tmp_path: Path) -> None:
    make_library(path, 3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE items SET content = CAST(x'61ff62' AS TEXT) WHERE seq = 2")
        connection.commit()
    with pytest.raises(StoreError, match="damaged"):
        back_up(path, tmp_path / "backup.db")


def test_a_copy_that_was_damaged_on_the_way_is_not_kept(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(path, 3)
    target = tmp_path / "backup.db"
    back_up(path, target)
    good = target.read_bytes()
    answers = iter([[], ["page 3 is wrong"]])
    monkeypatch.setattr(sqlite, "find_damage", lambda _: next(answers))
    with pytest.raises(StoreError, match="The copy is damaged"):
        back_up(path, target)
    assert target.read_bytes() == good
