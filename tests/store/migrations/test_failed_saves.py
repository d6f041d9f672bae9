"""Upgrading a library whose failed saves were bookmarks in the inbox, or dead jobs without an item."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.model import ItemQuery, item_filters
from pagekeep.store import Store, open_store
from tests.store.making import Server
from tests.store.past_library import TIME, make_postgres, make_sqlite
from tests.store.test_upgrade import modest

__all__ = ["modest"]
OLD = 18
"""The last schema without the state."""
FAILURE = {"type": "FetchHttpError", "message": "The server answered 404.", "status": 404}

BOOKMARKS: dict[int, tuple[bool, dict[str, Any], dict[str, str]]] = {
    1: (True, {}, {}),
    3: (False, {}, {}),  # in a list
    4: (False, {}, {}),  # with annotations
    6: (False, {"notes": "Mine."}, {}),
    7: (False, {}, {}),  # in the trash
    9: (True, {"fetch_again": True}, {}),
    10: (False, {"edited": True}, {}),
    11: (False, {"pinned": True}, {}),
    12: (False, {"content_hash": "x"}, {}),
    13: (False, {}, {"last_opened_at": TIME.format(40)}),
    5: (False, {"last_error": {**FAILURE, "at": TIME.format(0)}}, {}),  # changed since
}
"""Number of an item that becomes a bookmark of a page that could not be fetched: whether it is a failed save, and what is
different about it."""


def turn_into_bookmarks(number: int, user: str) -> tuple[str, dict[str, Any]]:
    """Return the statement that makes an item such a bookmark, and its values."""
    _, about, columns = BOOKMARKS[number]
    metadata = {
        "tags": ["harbour"],
        "quality": "bookmark",
        "fetch_again": False,
        "last_error": {**FAILURE, "at": TIME.format(number + 1)},
        **about,
    }
    changes = {"metadata": json.dumps(metadata), **columns}
    sets = ", ".join(f"{name} = :{name}" for name in changes)
    url = f"https://site{number % 3}.example/{user}/{number}"
    return f"UPDATE items SET {sets} WHERE user_id = :user AND url = :url", {**changes, "user": user, "url": url}


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A library of the old schema with such bookmarks, opened by today's program."""
    if request.param == "sqlite":
        path = tmp_path / "library.db"
        make_sqlite(path, OLD)
        with closing(sqlite3.connect(path)) as connection, connection:
            for number in BOOKMARKS:
                connection.execute(*turn_into_bookmarks(number, "ada"))
        with closing(open_store(path, "ada")) as library:
            yield library
        return
    server: Server = request.getfixturevalue("server")
    owner: str = request.getfixturevalue("modest")
    import psycopg

    from pagekeep.store import postgres

    make_postgres(owner, OLD)
    with psycopg.connect(owner) as connection:
        connection.execute("SET search_path = pagekeep")
        connection.execute("SELECT set_config('app.user_id', 'ada', false)")
        for number in BOOKMARKS:
            sql, values = turn_into_bookmarks(number, "ada")
            for name in values:
                sql = sql.replace(f":{name}", f"%({name})s")
            connection.execute(sql.encode(), values)
    postgres.install(owner)
    with closing(open_store(server.app.replace("/postgres?", "/upgraded?"), "ada")) as library:
        yield library


def test_only_what_the_user_has_not_touched_is_a_failed_save(upgraded: Store) -> None:
    items = upgraded.search.find(ItemQuery(filters=item_filters(failed=True))).items
    assert sorted(int(item.url.rpartition("/")[2]) for item in items) == [
        number for number, (is_failed, _, _) in sorted(BOOKMARKS.items()) if is_failed
    ]
    assert upgraded.counts.get(["state"])["state"]["failed"] == len(items)
    assert upgraded.check() == []


def test_a_save_that_failed_without_an_item_runs_again(upgraded: Store) -> None:
    states = {job.url.rpartition("/")[2]: (job.state, job.attempts) for job in upgraded.jobs.list()}
    assert states == {"0": ("queued", 0), "1": ("queued", 0), "2": ("done", 2)}
    job = upgraded.jobs.lease("w", TIME.format(59), TIME.format(59))
    assert job is not None
