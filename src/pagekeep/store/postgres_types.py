"""Values of PostgreSQL's own types in the form that both engines give: ids and times as text."""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg.adapt import Loader
from psycopg.types.string import TextLoader

BEFORE_ALL_TIMES: Final = "-infinity"


class TimeLoader(Loader):
    """Reads a time in the form of the library, `2025-03-19T10:30:00.123456Z`; what is before all times is empty."""

    def load(self, data: Any) -> str:
        """Return the time that the server sends as `2025-03-19 10:30:00.123456+00`."""
        text = bytes(data).decode("ascii")
        if text == BEFORE_ALL_TIMES:
            return ""
        time, _, fraction = text.removesuffix("+00").partition(".")
        return f"{time.replace(' ', 'T')}.{fraction:0<6}Z"


def adapt(connection: psycopg.Connection[Any]) -> None:
    """Let a connection give ids and times as text."""
    connection.execute("SET TIME ZONE 'UTC'")
    connection.execute("SET datestyle = ISO")
    connection.adapters.register_loader("uuid", TextLoader)
    connection.adapters.register_loader("timestamptz", TimeLoader)
