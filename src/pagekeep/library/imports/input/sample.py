"""The beginning of a file, looked at in the ways by which formats are told apart."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input import json_stream, tables
from pagekeep.library.imports.input.source import Source


@dataclass(frozen=True)
class Sample:
    """The beginning of a file."""

    source: Source

    @cached_property
    def head(self) -> str:
        """The text, from its first character that is no space."""
        return self.source.head.lstrip("\ufeff \t\r\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.head.lower()

    @cached_property
    def columns(self) -> frozenset[str]:
        """Names of the columns, in lower case, when it is a table."""
        return frozenset() if self.head[:1] in ("", "<", "{", "[") else frozenset(tables.columns(self.head))

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first entry, when it is a JSON array of objects."""
        if not self.head.startswith("["):
            return {}
        try:
            with self.source.text() as stream:
                found = next(json_stream.elements(stream), None)
        except PagekeepError:
            return {}
        return found.value if found is not None and isinstance(found.value, dict) else {}

    def has_list(self, name: str, key: str) -> bool:
        """Whether it is a JSON object with an array under `name` whose entries have the key; an empty array will do."""
        if not self.head.startswith("{") or f'"{name}"' not in self._searched:
            return False
        try:
            with self.source.text() as stream:
                found = next(json_stream.elements(stream, name), None)
        except PagekeepError:
            return False
        return found is None or (isinstance(found.value, dict) and key in found.value)

    @cached_property
    def _searched(self) -> str:
        """Far enough for the keys before the list."""
        with self.source.text() as stream:
            return stream.read(2_000_000)


def sample_of(text: str, name: str = "") -> Sample:
    """A sample of a text that is at hand."""
    return Sample(Source(name, lambda: io.BytesIO(text.encode())))
