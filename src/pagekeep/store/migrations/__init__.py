"""Numbered migrations from an empty database to the current schema. A released migration is never changed."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, NamedTuple


class Migration(NamedTuple):
    """One migration."""

    version: int
    name: str
    sql: str


def migrations(engine: Literal["sqlite", "postgres"]) -> tuple[Migration, ...]:
    """Return all migrations of an engine in order."""
    folder = files(__package__) / engine
    steps = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(Migration(int(name[:4]), name[5:-4], sql) for name, sql in steps)
