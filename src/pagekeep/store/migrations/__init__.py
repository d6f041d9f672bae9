"""Numbered migrations from an empty database to the current schema. A released migration is never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pagekeep.store.engine import Transaction


class Migration(NamedTuple):
    """One migration."""

    version: int
    name: str
    sql: str

    def statements(self) -> Iterator[str]:
        """Yield the statements of SQLite one by one: `executescript` would commit before it begins."""
        statement = ""
        for line in self.sql.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                yield statement
                statement = ""

    def upgrade(self, begin: Callable[[str], Transaction], table: str, act_for: str = "SELECT :user") -> None:
        """Change what SQL cannot, after the SQL and in the same transaction.

        `table` names all users, and the statement `act_for` lets the owner see the rows of one of them.
        """
        if self.name == "suggested_tags":
            from pagekeep.store.migrations.split_tags import split_tags  # only old libraries need it

            for (user,) in begin("").all(f"SELECT DISTINCT user_id FROM {table}"):
                begin(user).all(act_for, user=user)
                split_tags(begin(user))
        if self.name == "vocabulary":
            from pagekeep.store.tables.browse.vocabulary import fill

            for (user,) in begin("").all(f"SELECT DISTINCT user_id FROM {table}"):
                begin(user).all(act_for, user=user)
                fill(begin(user))
        if self.name == "reading":
            from pagekeep.store.tables.reading.annotation_words import index_all_words

            for (user,) in begin("").all(f"SELECT DISTINCT user_id FROM {table}"):
                begin(user).all(act_for, user=user)
                index_all_words(begin(user))


def migrations(engine: Literal["sqlite", "postgres"]) -> tuple[Migration, ...]:
    """Return all migrations of an engine in order."""
    folder = files(__package__) / engine
    steps = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(Migration(int(name[:4]), name[5:-4], sql) for name, sql in steps)
