"""The options of a bulk run."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk.input_files import Input, InputColumns
from pagekeep.bulk.read_records import ReadState
from pagekeep.bulk.row import COLUMNS_BY_NAME, DEFAULT_COLUMNS, OutputFormat, RowOptions, RowResult
from pagekeep.errors import ParseError
from pagekeep.model import PARSER_VERSION
from pagekeep.workers import Limits

Duplicates = Literal["keep", "exact", "near"]
_HASH_RANGE: Final = 2**64


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what a run writes, and how."""

    inputs: tuple[Input, ...]
    out: Path
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    format: OutputFormat = "parquet"
    html_column: str | None = None
    url_column: str | None = None
    limit: int | None = None
    """How many records to read at most."""
    sample: float = 1.0
    """Share of the records to extract; always the same ones."""
    languages: tuple[str, ...] = ()
    """Leave out pages in other languages."""
    min_score: int = 0
    """Leave out pages with a lower quality score."""
    duplicates: Duplicates = "keep"
    rules: str | None = None
    """Folder of the user's rules."""
    part_size: int = 1_000
    max_bytes: int = 10_000_000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        unknown = [name for name in self.columns if name not in COLUMNS_BY_NAME]
        if unknown:
            raise ParseError(f"Unknown column: {unknown[0]}.", suggestions=(f"Columns: {', '.join(COLUMNS_BY_NAME)}.",))

    def manifest(self) -> dict[str, Any]:
        """Return the options that decide the output's bytes: they must be the same to resume a run."""
        no_effect = ("out", "workers", "limits", "inputs")
        options = {name: value for name, value in asdict(self).items() if name not in no_effect}
        return {**options, "columns": list(self.columns), "languages": list(self.languages)} | {
            "inputs": [item.name for item in self.inputs],
            "parser_version": PARSER_VERSION,
        }

    def new_read_state(self) -> ReadState:
        """Return the state of reading at the start of a run."""
        return ReadState(InputColumns(self.html_column, self.url_column), self.max_bytes)

    def row_options(self) -> RowOptions:
        """Return the part of the options that workers need."""
        return RowOptions(self.columns, self.rules, self.duplicates != "keep", self.format, self.max_bytes)

    def in_sample(self, place: str) -> bool:
        """Return whether a record is in the sample, by a hash of its place: the same on every run and machine."""
        if self.sample >= 1:
            return True
        digest = blake2b(place.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest) < self.sample * _HASH_RANGE

    def skip_reason(self, result: RowResult) -> str | None:
        """Return the filter that leaves the row out, or `None`."""
        if result.error_type:
            return None
        if self.languages and (result.language or "").partition("-")[0] not in self.languages:
            return "other language"
        if result.score < self.min_score:
            return "low quality"
        return None
