"""The attacks of `tests/hostile/store_*.py` in small numbers, so that each is tried at every change."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.hostile import (
    backup_faults,
    damaged_libraries,
    library_races,
    store_backup,
    store_blobs,
    store_full,
    store_kill,
    store_migrate,
    store_places,
    store_race,
    tag_pairs,
    time_order,
)
from tests.store.damage import make_library
from tests.store.making import Server

ENGINES = ("sqlite", "postgres")


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> str:
    """An engine; that of PostgreSQL needs its server's packages, though each attack starts its own."""
    if request.param == "postgres":
        server: Server = request.getfixturevalue("server")
        assert server
    return str(request.param)


def test_killed_processes_lose_nothing_that_was_acknowledged(place: str) -> None:
    assert store_places.attack_on(place, store_kill.attack, 50) == []


def test_killed_processes_leave_no_item_without_its_files(place: str) -> None:
    assert store_places.attack_on(place, store_blobs.attack, 6) == []


def test_saves_at_once_make_each_page_once(place: str) -> None:
    assert store_places.attack_on(place, store_race.attack, 100) == []


def test_two_changes_of_one_item_at_once_are_both_there(place: str) -> None:
    assert store_places.attack_on(place, tag_pairs.attack, 20) == []


def test_use_cases_at_once_lose_and_double_nothing(place: str) -> None:
    assert store_places.attack_on(place, library_races.attack, 1) == []


def test_dates_first_saves_and_polls_are_reported_as_they_are(place: str) -> None:
    assert store_places.attack_on(place, time_order.attack, 20) == []


def test_a_killed_migration_is_all_or_nothing(place: str) -> None:
    assert store_places.attack_on(place, store_migrate.attack, 6) == []


def test_backups_under_load_restore_identically(place: str) -> None:
    assert store_places.attack_on(place, store_backup.attack, 2) == []


def test_flipped_bytes_and_kills_make_no_backup_that_cannot_be_restored(place: str) -> None:
    assert store_places.attack_on(place, backup_faults.attack, 3) == []


def test_damaged_libraries_are_saved_and_make_no_backup_worse() -> None:
    counts = Counter[str]()
    assert damaged_libraries.attack(5, counts) == []
    assert counts["saved"] >= counts["readable"] > 0


@pytest.mark.parametrize(("way", "pages", "seed"), [("torn", 2, 43), ("swapped", 4, 69)])
def test_noise_in_the_schema_is_reported_as_damage(way: str, pages: int, seed: int, tmp_path: Path) -> None:
    make_library(tmp_path / "original.db", damaged_libraries.ITEMS)
    (tmp_path / "work").mkdir()
    arguments = tmp_path / "original.db", tmp_path / "work", way, pages, seed, Counter[str]()
    assert damaged_libraries.attack_library(*arguments) == []


def test_a_file_that_may_not_grow_loses_nothing() -> None:
    assert store_places.attack_on("sqlite", store_full.with_small_files, 5) == []


@pytest.mark.parametrize("attack", [store_full.on_small_disk, store_full.on_postgres], ids=ENGINES)
def test_a_full_disk_loses_nothing(attack: store_full.DiskAttack, request: pytest.FixtureRequest) -> None:
    if attack is store_full.on_postgres:
        request.getfixturevalue("server")
    faults = attack(5)
    if faults is None:
        pytest.skip("no small file system can be mounted here")
    assert faults == []
