"""Libraries of every past schema, with items in them, are upgraded whole, or stay as they were."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.errors import StoreError
from pagekeep.library.items.tags import rename_tag
from pagekeep.store import open_store, parse_query, sqlite
from pagekeep.store.migrations import Migration, migrations
from tests.store.making import Server
from tests.store.past_library import USERS, faults_of, make_postgres, make_sqlite

VERSIONS = tuple(step.version for step in migrations("sqlite"))
SERVER_VERSIONS = tuple(step.version for step in migrations("postgres"))
BROKEN = Migration(
    SERVER_VERSIONS[-1] + 1, "broken", "CREATE TABLE third (x INTEGER);\nINSERT INTO nowhere VALUES (1);\n"
)


def few(versions: tuple[int, ...]) -> list[Any]:
    """Mark all but the first, every sixth and the last three versions as `full`: `make hostile` upgrades from each."""
    first = {*versions[::6], *versions[-3:]}
    return [version if version in first else pytest.param(version, marks=pytest.mark.full) for version in versions]


@pytest.mark.parametrize("version", few(VERSIONS))
def test_file_of_a_past_schema_is_upgraded_with_all_that_is_in_it(tmp_path: Path, version: int) -> None:
    path = tmp_path / "library.db"
    expected = make_sqlite(path, version)
    for user in USERS:
        with closing(open_store(path, user)) as library:
            assert faults_of(library, expected[user]) == []


def test_oracle_sees_what_an_upgrade_loses(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    expected = make_sqlite(path, 2)["ada"]
    with closing(open_store(path, "ada")) as library:
        first, second, *_ = expected.items
        library.items.set_metadata(expected.items[first]["id"], "2025-03-20T10:00:00.000000Z", tags=("other",))
        library.items.delete(expected.items[second]["id"], "2025-03-20T10:00:00.000000Z")
        faults = faults_of(library, expected)
    assert any(first in fault and "tags" in fault for fault in faults)
    assert any(second in fault and "deleted_at" in fault for fault in faults)


@pytest.mark.parametrize("version", [2, 4, VERSIONS[-1]])
def test_upgrade_that_fails_leaves_the_file_at_its_schema(tmp_path: Path, version: int) -> None:
    path = tmp_path / "library.db"
    make_sqlite(path, version)
    before = list(_dump(path))
    with closing(sqlite.connect(path)) as connection, pytest.raises(StoreError) as failure:
        sqlite.migrate(connection, path, (*migrations("sqlite"), BROKEN))
    assert f"from schema {version} to {BROKEN.version}, and was not changed" in failure.value.message
    assert any("still opens it" in each for each in failure.value.suggestions)
    assert list(_dump(path)) == before
    open_store(path, "ada").close()  # a version without the fault goes on from there


def _dump(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(path)) as connection:
        yield str(connection.execute("PRAGMA user_version").fetchone())
        yield from connection.iterdump()


@pytest.fixture
def modest(server: Server) -> Iterator[str]:
    """An empty database of an owner without special rights, whom row security binds too."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.owner, autocommit=True) as owner:
        for sql in (
            "DROP DATABASE IF EXISTS upgraded",
            "DROP ROLE IF EXISTS upgrader",
            "CREATE ROLE upgrader LOGIN CREATEROLE",
            "CREATE DATABASE upgraded OWNER upgrader",
            "GRANT pagekeep_app, pagekeep_worker, pagekeep_door TO upgrader WITH ADMIN OPTION",
        ):
            owner.execute(sql)
    yield re.sub(r"//[^@]*@", "//upgrader:@", server.owner).replace("/postgres?", "/upgraded?")
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("DROP DATABASE upgraded WITH (FORCE)")


@pytest.mark.parametrize("version", few(SERVER_VERSIONS))
def test_server_of_a_past_schema_is_upgraded_with_all_that_is_in_it(server: Server, modest: str, version: int) -> None:
    from pagekeep.store import postgres

    expected = make_postgres(modest, version)
    postgres.install(modest)
    for user in USERS:
        with closing(open_store(server.app.replace("/postgres?", "/upgraded?"), user)) as library:
            assert faults_of(library, expected[user]) == []


def test_upgrade_that_fails_leaves_the_server_at_its_schema(server: Server, modest: str) -> None:
    from pagekeep.store import postgres

    expected = make_postgres(modest, 2)
    with pytest.raises(StoreError, match=r"from schema 2 to \d+, and was not changed"):
        postgres.install(modest, (*migrations("postgres"), BROKEN))
    import psycopg

    with psycopg.connect(modest, autocommit=True) as owner:
        assert owner.execute("SELECT version FROM pagekeep.schema_version").fetchall() == [(2,)]
        assert owner.execute("SELECT to_regclass('pagekeep.snapshots')").fetchone() == (None,)
    postgres.install(modest)
    with closing(open_store(server.app.replace("/postgres?", "/upgraded?"), "ada")) as library:
        assert faults_of(library, expected["ada"]) == []


@pytest.mark.parametrize("version", [2, 18, 24])
def test_spellings_of_one_tag_become_one_tag(tmp_path: Path, version: int) -> None:
    path = tmp_path / "library.db"
    expected = make_sqlite(path, version)["ada"]
    url, wanted = next((url, item) for url, item in expected.items.items() if not item["deleted_at"])
    with closing(sqlite3.connect(path)) as connection, connection:
        spelled = 'json_set(metadata, \'$.tags\', json(\'["Energy","energy","sea","café","Cafe"]\'))'
        connection.execute(f"UPDATE items SET metadata = {spelled} WHERE id = ?", (wanted["id"],))
    with closing(open_store(path, "ada")) as library:
        assert library.items.get(url).metadata.tags == ("Energy", "sea", "café")
        counts = library.counts.get(["tag"])["tag"]
        assert (counts["energy"], counts["cafe"]) == (1, 1)
        assert [item.url for item in library.search.find(parse_query("energy cafe")).items] == [url]
        assert rename_tag(library, "CAFE", "Coffee").action.changed == 1
        assert library.items.get(url).metadata.tags == ("Energy", "sea", "Coffee")
        assert library.check() == []
