"""All rows of a library file, to compare before and after."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

ACCOUNT_TABLES = ("tokens", "sessions", "users", "sign_in_failures")
"""Of the accounts, not the library: uses of tokens and failed sign-ins are recorded there."""


def all_rows(library: Path | str) -> list[str]:
    """Every row of every table of the library, as SQL."""
    with closing(sqlite3.connect(f"file:{library}?mode=ro", uri=True)) as connection:
        others = tuple(f'INSERT INTO "{table}"' for table in ACCOUNT_TABLES)
        return [line for line in connection.iterdump() if line.startswith("INSERT") and not line.startswith(others)]
