from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import StoreError
from pagekeep.store import open_store, parse_query, sqlite
from pagekeep.store.migrations import Migration, migrations
from tests.hostile import store_places
from tests.store.making import make_item, make_raw

FIXTURES = Path(__file__).parent / "schemas"
NEWEST = migrations("sqlite")[-1].version
SECOND = Migration(NEWEST + 1, "second", "CREATE TABLE second (x);\nINSERT INTO second VALUES (1);\n")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_commits_are_on_the_disk_and_references_hold(path: Path) -> None:
    with closing(sqlite.connect(path)) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert found == ["wal", 2, 1]


def test_a_writer_waits_for_another_instead_of_failing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.01)
    with closing(open_store(path)) as library, closing(sqlite.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
        library.items.save(make_item(), None)
        assert library.counts.totals()["items"] == 1


def test_a_library_that_stays_busy_is_reported_in_our_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.01)
    monkeypatch.setattr(sqlite, "MAX_WAIT", 0.05)
    with closing(open_store(path)) as library, closing(sqlite.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="Another process") as caught:
            library.items.save(make_item(), None)
        assert "locked" not in str(caught.value)
        assert library.counts.totals()["items"] == 0


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc")
def test_short_lived_threads_leave_no_connections_behind(path: Path) -> None:
    with closing(open_store(path)) as library:
        for _ in range(30):
            thread = threading.Thread(target=library.counts.totals)
            thread.start()
            thread.join()
        links = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert sum(link == str(path) for link in links) == 1


def test_a_forked_process_uses_its_own_connections(path: Path) -> None:
    with closing(open_store(path)) as library:
        library.items.save(make_item(1), None)
        child = store_places.start(library.items.save, make_item(2), None)
        library.items.save(make_item(3), None)
        child.join()
        assert child.exitcode == 0
        assert library.counts.totals()["items"] == 3
        assert library.check() == []


def test_a_newer_library_is_refused(path: Path) -> None:
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        open_store(path)


@pytest.mark.parametrize("schema", sorted(FIXTURES.glob("sqlite-v*.sql")), ids=lambda file: file.stem)
def test_every_past_schema_migrates(path: Path, schema: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(schema.read_text("utf-8"))
    with closing(open_store(path)) as library:
        item = library.items.by_url("https://example.com/old")
        assert item is not None
        assert (item.title, list(item.metadata.tags)) == ("An old page", ["old"])
        raw = library.items.raw(item.id)
        assert raw is not None
        assert raw.body == b"<p>Old words</p>"
        assert [hit.item.id for hit in library.search.find(parse_query("old words")).hits] == [item.id]
        assert [job.state for job in library.jobs.list()] == ["queued"]
        assert library.check() == []
    assert version(path) == migrations("sqlite")[-1].version


def test_there_is_a_fixture_of_every_schema() -> None:
    assert {file.name for file in FIXTURES.glob("sqlite-v*.sql")} == {
        f"sqlite-v{step.version}.sql" for step in migrations("sqlite")
    }


def test_a_copy_is_made_before_a_migration(path: Path) -> None:
    with closing(open_store(path)) as library:
        item = library.items.save(make_item(), None)
    with closing(sqlite.connect(path)) as connection:
        sqlite.migrate(connection, path, (*migrations("sqlite"), SECOND))
    assert version(path) == NEWEST + 1
    with closing(open_store(path.with_name(f"library.db.v{NEWEST}.backup"))) as copy:
        assert copy.items.get(item.id) == item


def test_processes_that_open_a_new_library_at_once_make_it_once(path: Path) -> None:
    code = f"from pagekeep.store import open_store; open_store({str(path)!r}).close()"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    with closing(open_store(path)) as library:
        assert library.check() == []


def test_a_backup_is_a_whole_library(path: Path, tmp_path: Path) -> None:
    with closing(open_store(path)) as library:
        item = library.items.save(make_item(), make_raw())
        library.backup(str(tmp_path / "copy.db"))
    with closing(open_store(tmp_path / "copy.db")) as copy:
        assert (copy.items.get(item.id), copy.items.raw(item.id)) == (item, make_raw())
        assert copy.check() == []


def test_a_backup_that_cannot_be_written_says_so(path: Path, tmp_path: Path) -> None:
    with closing(open_store(path)) as library, pytest.raises(StoreError):
        library.backup(str(tmp_path / "none" / "copy.db"))


def test_damage_is_found(path: Path) -> None:
    with closing(open_store(path)) as library:
        library.items.save(make_item(1), make_raw(b"one"))
        library.items.save(make_item(2), make_raw(b"two"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE raw_bodies SET body = x'00' WHERE size = (SELECT MIN(size) FROM raw_bodies) AND rowid = 1"
        )
        connection.execute("DELETE FROM item_words WHERE seq = 2")
        connection.commit()
    with closing(open_store(path)) as library:
        faults = library.check()
    assert len(faults) == 2
    assert "missing from the search index" in faults[0]
    assert "damaged" in faults[1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_library_that_may_not_be_written_says_so(path: Path) -> None:
    open_store(path).close()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with pytest.raises(StoreError), closing(open_store(path)) as library:
            library.items.save(make_item(), None)
    finally:
        path.parent.chmod(0o755)
