"""The beginning of a file, in the forms that formats are recognised by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input import csv_records, json_stream
from pagekeep.library.imports.input.source import Source

_MAX_SEARCHED_CHARS: Final = 2_000_000
"""How far `has_list` looks for a key: other lists may come before it."""


@dataclass(frozen=True)
class Sample:
    """The beginning of a file; each form is computed when a format first asks for it."""

    source: Source

    @cached_property
    def head(self) -> str:
        """The text from its first visible character."""
        return self.source.head.lstrip("\ufeff \t\r\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.head.lower()

    @cached_property
    def columns(self) -> frozenset[str]:
        """The column names in lower case, if the file is a CSV table."""
        return frozenset() if self.head[:1] in ("", "<", "{", "[") else frozenset(csv_records.read_columns(self.head))

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first entry, if the file is a JSON array of objects."""
        if not self.head.startswith("["):
            return {}
        try:
            with self.source.text() as stream:
                element = next(json_stream.read_elements(stream), None)
        except PagekeepError:
            return {}
        return element.value if element is not None and isinstance(element.value, dict) else {}

    def has_list(self, name: str, key: str) -> bool:
        """Return whether the file is a JSON object with an array `name` that is empty or whose entries have `key`."""
        if not self.head.startswith("{") or f'"{name}"' not in self._searched:
            return False
        try:
            with self.source.text() as stream:
                element = next(json_stream.read_elements(stream, name), None)
        except PagekeepError:
            return False
        if element is not None and isinstance(element.value, json_stream.Skipped):
            return f'"{key}"' in self._searched
        return element is None or (isinstance(element.value, dict) and key in element.value)

    @cached_property
    def _searched(self) -> str:
        with self.source.text() as stream:
            return stream.read(_MAX_SEARCHED_CHARS)
