"""The upgrade of a library of every past schema is killed at random times (S4, Q1).

After a kill the library is at its old schema or at the newest one, never between; the next try ends the upgrade, and then
everything is there, compared item by item.

`python -m tests.hostile.store_migrate [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from pagekeep.store import open_store, sqlite
from pagekeep.store.migrations import migrations
from tests.hostile.store_places import attack_on, kill, run_script, start
from tests.store.making import Server, postgres_server
from tests.store.past_library import USERS, Expected, faults_of, make_postgres, make_sqlite

PAST = {engine: [step.version for step in migrations(engine)] for engine in ("sqlite", "postgres")}
"""All versions of the schema, the newest last."""


def _upgrade_sqlite(path: str) -> None:
    with closing(sqlite.connect(Path(path))) as connection:
        sqlite.migrate(connection, Path(path))


def attack_sqlite(where: str, count: int) -> list[str]:
    """Kill that many upgrades, of the past schemas by turns."""
    folder, chance, faults, killed, rounds = Path(where).parent, random.Random(5), list[str](), 0, 0
    longest, (*past, newest) = 0.05, PAST["sqlite"]
    while killed < count:
        version = past[rounds % len(past)]
        rounds += 1
        expected = make_sqlite(Path(where), version)
        began = time.monotonic()
        process = start(_upgrade_sqlite, where)
        time.sleep(chance.uniform(0, longest))
        killed += process.is_alive()
        kill(process)
        with closing(sqlite3.connect(where)) as connection:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in (version, newest):
            faults.append(f"schema {version} was left at {found}")
        _upgrade_sqlite(where)
        longest = min(5.0, max(longest, time.monotonic() - began))
        faults += [f"schema {version}: {fault}" for fault in _faults(where, expected)]
        for leftover in folder.glob("library.db*"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    return faults


def _faults(where: str, expected: dict[str, Expected]) -> list[str]:
    found: list[str] = []
    for user in USERS:
        with closing(open_store(where, user)) as library:
            found += faults_of(library, expected[user])
    return found


def _upgrade_postgres(owner: str) -> None:
    from pagekeep.store import postgres

    postgres.install(owner)


def attack_postgres(server: Server, count: int) -> list[str]:
    """The same on PostgreSQL, with an owner whom row security binds."""
    import psycopg

    chance, faults, killed, rounds, longest = random.Random(5), list[str](), 0, 0, 0.05
    *past, newest = PAST["postgres"]
    owner = re.sub(r"//[^@]*@", "//upgrader:@", server.owner).replace("/postgres?", "/upgraded?")
    with psycopg.connect(server.owner, autocommit=True) as connection:
        connection.execute("CREATE ROLE upgrader LOGIN CREATEROLE")
        connection.execute("GRANT pagekeep_app, pagekeep_worker, pagekeep_door TO upgrader WITH ADMIN OPTION")
    while killed < count:
        version = past[rounds % len(past)]
        rounds += 1
        with psycopg.connect(server.owner, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS upgraded WITH (FORCE)")
            connection.execute("CREATE DATABASE upgraded OWNER upgrader")
        expected = make_postgres(owner, version)
        began = time.monotonic()
        process = start(_upgrade_postgres, owner)
        time.sleep(chance.uniform(0, longest))
        killed += process.is_alive()
        kill(process)
        with psycopg.connect(owner, autocommit=True) as connection, connection.transaction():
            # The server ends the transaction of a killed client when it notices; this waits for that.
            connection.execute("LOCK TABLE pagekeep.schema_version IN EXCLUSIVE MODE")
            found = connection.execute("SELECT version FROM pagekeep.schema_version").fetchall()
        if found not in ([(version,)], [(newest,)]):
            faults.append(f"schema {version} was left at {found}")
        _upgrade_postgres(owner)
        longest = min(5.0, max(longest, time.monotonic() - began))
        where = server.app.replace("/postgres?", "/upgraded?")
        faults += [f"schema {version}: {fault}" for fault in _faults(where, expected)]
    return faults


def attack(where: str, count: int) -> list[str]:
    """On whichever engine."""
    if not where.startswith("postgres"):
        return attack_sqlite(where, count)
    with postgres_server() as server:  # its own, where it may make databases and roles
        return attack_postgres(server, count)


__all__ = ["attack", "attack_on"]

if __name__ == "__main__":
    run_script(attack, 20, 200)
