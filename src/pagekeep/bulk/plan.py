"""What a run is to do, as one value."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk.input.files import Input
from pagekeep.bulk.input.read import Reading
from pagekeep.bulk.input.records import Columns
from pagekeep.bulk.row import BY_NAME, DEFAULT, Made, OutputFormat, Wanted
from pagekeep.errors import ParseError
from pagekeep.model import PARSER_VERSION
from pagekeep.workers import Limits

Duplicates = Literal["keep", "exact", "near"]
_WHOLE: Final = 2**64


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides what comes out, and how it is made."""

    inputs: tuple[Input, ...]
    out: Path
    columns: tuple[str, ...] = DEFAULT
    format: OutputFormat = "parquet"
    html_column: str | None = None
    url_column: str | None = None
    limit: int | None = None
    """Records read at most."""
    sample: float = 1.0
    """Share of the records that is taken; always the same ones."""
    languages: tuple[str, ...] = ()
    """Pages in other languages are left out."""
    min_score: int = 0
    """Pages of lower quality are left out."""
    duplicates: Duplicates = "keep"
    rules: str | None = None
    """Folder of the user's rules."""
    part_size: int = 1_000
    max_bytes: int = 10_000_000
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        unknown = [name for name in self.columns if name not in BY_NAME]
        if unknown:
            raise ParseError(f"There is no column {unknown[0]}.", suggestions=(f"Columns: {', '.join(BY_NAME)}.",))

    def manifest(self) -> dict[str, Any]:
        """What must be the same for a run to go on: all that decides the bytes that come out."""
        how = ("out", "workers", "limits", "inputs")
        settled = {name: value for name, value in asdict(self).items() if name not in how}
        return {**settled, "columns": list(self.columns), "languages": list(self.languages)} | {
            "inputs": [item.name for item in self.inputs],
            "parser_version": PARSER_VERSION,
        }

    def reading(self) -> Reading:
        """How the files are read."""
        return Reading(Columns(self.html_column, self.url_column), self.max_bytes)

    def wanted(self) -> Wanted:
        """What workers make of a record."""
        return Wanted(self.columns, self.rules, self.duplicates != "keep", self.format, self.max_bytes)

    def takes(self, place: str) -> bool:
        """Whether the record is in the sample: by its place alone, so the same on every run and machine."""
        if self.sample >= 1:
            return True
        digest = blake2b(place.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest) < self.sample * _WHOLE

    def why_left_out(self, made: Made) -> str | None:
        """Which filter the row does not pass."""
        if made.error_type:
            return None
        if self.languages and (made.language or "").partition("-")[0] not in self.languages:
            return "other language"
        if made.score < self.min_score:
            return "low quality"
        return None
