"""Numbered steps from an empty database to today's. A step that was released is never edited."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, NamedTuple


class Migration(NamedTuple):
    """One step."""

    version: int
    name: str
    sql: str


def migrations(engine: Literal["sqlite", "postgres"]) -> tuple[Migration, ...]:
    """All steps, in order."""
    folder = files(__package__) / engine
    steps = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(Migration(int(name[:4]), name[5:-4], sql) for name, sql in steps)
