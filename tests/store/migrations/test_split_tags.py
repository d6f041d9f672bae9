"""Tags that earlier versions added become suggestions; the user's stay."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.model import Item, ItemQuery, item_filters
from pagekeep.store import Store, open_store, parse_query, sqlite
from pagekeep.store.migrations import migrations
from pagekeep.store.migrations.split_tags import find_added, split_tags
from tests.store.making import NOW, Server, make_item

OWN = "---\ntitle: A title\ntags: [null-page, 'wood: oak', lathe]\nquality: article\n---\n\nSome words.\n"


def old_item(*tags: str, number: int = 0, user_id: str = "local", content: str = OWN, **changes: Any) -> Item:
    """An item as earlier versions stored it at its first save."""
    item = make_item(number, tags=tags, content=content, user_id=user_id)
    return replace(item, **{"created_at": NOW, "saved_at": NOW, **changes})


@pytest.mark.parametrize(
    ("tags", "added"),
    [
        (("null-page", "wood: oak", "lathe"), ("null-page", "wood: oak", "lathe")),
        (("mine", "null-page", "wood: oak", "lathe"), ("null-page", "wood: oak", "lathe")),
        (("null-page", "lathe", "later"), ("null-page", "lathe")),  # one was removed, one added
        (("lathe", "null-page", "wood: oak"), ("null-page", "wood: oak")),  # requested: it comes before the page's own
        (("mine", "to read"), ()),
        ((), ()),
    ],
)
def test_only_tags_of_the_page_in_their_order_were_added(tags: tuple[str, ...], added: tuple[str, ...]) -> None:
    assert find_added(old_item(*tags)) == added


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "import:pocket"},
        {"saved_at": "2020-01-01T00:00:00.000000Z"},  # imported, and fetched later
        {"content": "Some words without frontmatter, tags: [lathe]"},
        {"content": "---\ntags: [broken\n---\n"},
        {"content": "---\ntitle: x\n---\n\ntags: [lathe]\n"},
    ],
)
def test_tags_of_the_user_stay(changes: dict[str, Any]) -> None:
    assert find_added(old_item("lathe", **changes)) == ()


def check(library: Store, item_id: str) -> None:
    item = library.get(item_id)
    assert (item.metadata.tags, item.metadata.suggested_tags) == (("mine",), ("null-page", "lathe"))
    assert library.find(ItemQuery(filters=item_filters(tags=("lathe",)))).items == ()
    assert [found.id for found in library.find(ItemQuery(filters=item_filters(tags=("mine",)))).items] == [item_id]
    assert library.find(parse_query("lathe")).items == ()  # nor in the search words
    assert [found.id for found in library.find(parse_query("some words")).items] == [item_id]
    assert library.check() == []


def test_tags_words_and_filters_follow(library: Store) -> None:
    item = library.upsert(old_item("mine", "null-page", "lathe", user_id=library.user_id), None)
    library._engine.write(split_tags)
    check(library, item.id)
    before = library.get(item.id)
    library._engine.write(split_tags)
    assert library.get(item.id) == before


def test_many_items_are_split(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekeep.store.migrations.split_tags._BATCH", 2)
    for number in range(5):
        library.upsert(old_item("mine", "lathe", number=number, user_id=library.user_id), None)
    library._engine.write(split_tags)
    assert {item.metadata.tags for item in library.find(ItemQuery()).items} == {("mine",)}


def test_file_of_an_earlier_version_is_split_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    with closing(open_store(path)) as library:
        item = library.upsert(old_item("mine", "null-page", "lathe"), None)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 4")
        sqlite.migrate(connection, path, migrations("sqlite")[:5])
        connection.execute(f"PRAGMA user_version = {migrations('sqlite')[-1].version}")  # its tables exist
    with closing(open_store(path)) as library:
        check(library, item.id)


def test_server_of_an_earlier_version_is_split_for_all_users(server: Server) -> None:
    psycopg = pytest.importorskip("psycopg")
    from pagekeep.store import postgres

    saved: dict[str, str] = {}
    for user in ("split-one", "split-two"):
        with closing(open_store(server.app, user)) as library:
            saved[user] = library.upsert(old_item("mine", "null-page", "lathe", user_id=user), None).id
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("UPDATE pagekeep.schema_version SET version = 4")
    postgres.install(server.owner, migrations("postgres")[:5])
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute(f"UPDATE pagekeep.schema_version SET version = {migrations('postgres')[-1].version}")
    for user, item_id in saved.items():
        with closing(open_store(server.app, user)) as library:
            check(library, item_id)
