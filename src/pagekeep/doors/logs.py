"""The log: JSON lines, or short lines on a terminal. It goes to stderr."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

request_id: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
"""The ID of the request that is being served."""


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            "request_id": request_id.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=True)


class ShortLines(logging.Formatter):
    """Formats a record as a short line for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, "fields", None)
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        if fields is None:
            trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
            return f"{at} {record.levelname.lower()}: {record.getMessage()}{trace}"
        if "route" in fields:
            line = f"{at} {fields['method']} {fields['route']} {fields['status']} {fields['ms']} ms"
            return " ".join([line, *(fields[name] for name in ("host", "reason") if name in fields)])
        level = f"{record.levelname.lower()}: " if record.levelno > logging.INFO else ""
        return f"{at} {level}{record.getMessage()} {' '.join(_parts(fields))}"


def _parts(fields: Mapping[str, Any]) -> list[str]:
    """Return `name=value` for each field that has a value; times and lists in brief."""
    brief = {
        name: ",".join(f"{key}:{number}" for key, number in value.items())
        if isinstance(value, Mapping)
        else ",".join(map(str, value))
        if isinstance(value, (list, tuple))
        else value
        for name, value in fields.items()
    }
    return [f"{name}={value}" for name, value in brief.items() if value not in (None, "")]


def configure(level: str = "info", *, lines: bool | None = None) -> None:
    """Write the log to stderr: as JSON lines, or as short lines on a terminal; `lines` overrides the choice."""
    as_json = not sys.stderr.isatty() if lines is None else lines
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else ShortLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]  # also for libraries, some of which have their own handlers
    for name, min_level in (("", "WARNING"), ("pagekeep", level.upper()), ("mcp", "WARNING"), ("asyncio", "ERROR")):
        logging.getLogger(name).setLevel(min_level)
