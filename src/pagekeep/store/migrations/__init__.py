"""Numbered migrations from an empty database to the current schema.

A released migration is never changed, and it never calls live code: today's functions write tables that an old schema does not
have yet. It is SQL, or a frozen helper in this folder; a lint contract holds that nothing else is imported. Tables that are
derived from others, such as the search words, are not filled by a migration: `reindex` rebuilds them once, after the last one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, Protocol

_CHANGES_ROWS: Final = frozenset({"suggested_tags"})
"""Migrations with a helper, which runs for each user after the SQL."""
_REINDEXES: Final = frozenset({"suggested_tags", "reading", "vocabulary", "item_tags"})
"""Migrations that leave derived tables empty or out of date."""


class Database(Protocol):
    """What a helper may use: SQL in a running transaction of one user, with `:name` for parameters."""

    user_id: str

    def all(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    def run(self, sql: str, **values: Any) -> int:
        """Run a statement and return how many rows it changed."""

    def json(self, value: Mapping[str, Any]) -> Any:
        """Return a mapping as a parameter for a JSON column."""


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

    @property
    def changes_rows(self) -> bool:
        """Whether `change_rows` has to run for every user."""
        return self.name in _CHANGES_ROWS

    @property
    def reindexes(self) -> bool:
        """Whether derived tables have to be rebuilt after the last migration."""
        return self.name in _REINDEXES

    def change_rows(self, database: Database) -> None:
        """Change the rows of one user in a way that SQL cannot, after the SQL and in the same transaction."""
        if self.name == "suggested_tags":
            from pagekeep.store.migrations.split_tags import split_tags  # only old libraries need it

            split_tags(database)


def migrations(engine: Literal["sqlite", "postgres"]) -> tuple[Migration, ...]:
    """Return all migrations of an engine in order."""
    folder = files(__package__) / engine
    steps = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(Migration(int(name[:4]), name[5:-4], sql) for name, sql in steps)
