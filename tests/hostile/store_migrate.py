"""A migration is killed at random points: the library is of the old version or of the new one, and the next try ends it (S4).

`python -m tests.hostile.store_migrate [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pagekeep.store import open_store, sqlite
from pagekeep.store.migrations import Migration, migrations
from tests.hostile.store_places import USER, attack_on, faults_of, kill, page, run_script, start
from tests.store.making import postgres_server

PAGES = 60
STEPS = 8
FIRST = migrations("sqlite")[-1].version + 1


def steps(engine: str) -> tuple[Migration, ...]:
    """Later versions that change much: each makes a table, fills it, and rewrites all titles and back."""
    made = (
        f"CREATE TABLE step{n} AS SELECT id, content FROM items;\n"
        f"UPDATE items SET title = title || ' {n}';\nUPDATE items SET title = replace(title, ' {n}', '');\n"
        f"INSERT INTO step{n} SELECT id, content FROM items;\n"
        for n in range(FIRST, FIRST + STEPS)
    )
    assert engine in ("sqlite", "postgres")
    there = migrations("sqlite") if engine == "sqlite" else migrations("postgres")
    return (*there, *(Migration(FIRST + n, f"step{FIRST + n}", sql) for n, sql in enumerate(made)))


def _migrate_sqlite(path: str) -> None:
    with closing(sqlite.connect(Path(path))) as connection:
        sqlite.migrate(connection, Path(path), steps("sqlite"))


def _state(connection: sqlite3.Connection) -> str | None:
    """What is wrong with the version and the tables that belong to it."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'step%'")}
    if tables != {f"step{n}" for n in range(FIRST, version + 1)}:
        return f"version {version} has the tables {sorted(tables)}"
    counts = {connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables}
    titles = connection.execute("SELECT COUNT(*) FROM items WHERE title LIKE 'number% version0'").fetchone()[0]
    return None if counts <= {2 * PAGES} and titles == PAGES else f"version {version} is partial"


def attack_sqlite(where: str, count: int) -> list[str]:
    """From a fresh copy of the old library, as often as it takes to kill so many times."""
    with closing(open_store(where, USER)) as library:
        for number in range(PAGES):
            library.upsert(*page(number))
    old = Path(where).read_bytes()
    chance, faults, killed = random.Random(5), list[str](), 0
    while killed < count:
        Path(where).write_bytes(old)
        for _ in range(2):
            process = start(_migrate_sqlite, where)
            time.sleep(chance.uniform(0, 0.08))
            killed += process.is_alive()
            kill(process)
            with closing(sqlite3.connect(where)) as connection:
                faults += filter(None, [_state(connection)])
        _migrate_sqlite(where)
        with closing(sqlite3.connect(where)) as connection:
            faults += filter(None, [_state(connection)])
            connection.execute(f"PRAGMA user_version = {migrations('sqlite')[-1].version}")
        with closing(open_store(where, USER)) as library:
            faults += [*faults_of(library, 0), *library.check()]
        for leftover in Path(where).parent.glob("library.db*"):
            leftover.unlink()
    return faults


@contextmanager
def _rewound(owner: str) -> Iterator[None]:
    """Back to the version it was afterwards."""
    import psycopg

    yield
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("SET search_path = pagekeep")
        connection.execute(f"UPDATE schema_version SET version = {FIRST - 1}")
        for n in range(FIRST, FIRST + STEPS):
            connection.execute(f"DROP TABLE IF EXISTS step{n}")


def _migrate_postgres(owner: str) -> None:
    from pagekeep.store import postgres

    postgres.install(owner, steps("postgres"))


def _postgres_state(owner: str) -> str | None:
    import psycopg

    with psycopg.connect(owner, autocommit=True) as connection, connection.transaction():
        # The server ends the transaction of a killed client when it notices; this waits for that.
        connection.execute("LOCK TABLE pagekeep.schema_version IN EXCLUSIVE MODE")
        row = connection.execute("SELECT version FROM pagekeep.schema_version").fetchone()
        tables = {
            name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'step%'")
        }
    version = row[0] if row else 0
    wrong = tables != {f"step{n}" for n in range(FIRST, version + 1)}
    return f"version {version} has the tables {sorted(tables)}" if wrong else None


def attack_postgres(_where: str, count: int) -> list[str]:
    """The same on PostgreSQL."""
    chance, faults, killed = random.Random(5), list[str](), 0
    with postgres_server() as server:
        with closing(open_store(server.app, USER)) as library:
            for number in range(PAGES):
                library.upsert(*page(number))
        while killed < count:
            with _rewound(server.owner):
                for _ in range(2):
                    process = start(_migrate_postgres, server.owner)
                    time.sleep(chance.uniform(0, 0.12))
                    killed += process.is_alive()
                    kill(process)
                    faults += filter(None, [_postgres_state(server.owner)])
                _migrate_postgres(server.owner)
                faults += filter(None, [_postgres_state(server.owner)])
            with closing(open_store(server.app, USER)) as library:
                faults += [*faults_of(library, 0), *library.check()]
    return faults


def attack(where: str, count: int) -> list[str]:
    """On whichever engine."""
    return (attack_postgres if where.startswith("postgres") else attack_sqlite)(where, count)


__all__ = ["attack", "attack_on"]

if __name__ == "__main__":
    run_script(attack, 20, 200)
