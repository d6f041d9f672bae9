"""What goes out: one row a record. The same function whatever engine runs it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal, NamedTuple

from pagekeep import rules
from pagekeep.bulk.duplicates import Signature, signature
from pagekeep.bulk.input.read import Found, opened
from pagekeep.bulk.input.records import Line, Record, Refused
from pagekeep.errors import PagekeepError
from pagekeep.markdown import write_document
from pagekeep.model import PARSER_VERSION, Options, Page
from pagekeep.pipeline import extract
from pagekeep.rules.rulebook import Rulebook

Row = dict[str, Any]
Cells = tuple[Any, ...] | bytes
"""A row as it is written: its values in the order of the columns, text as UTF-8; or a line of JSON."""
OutputFormat = Literal["parquet", "jsonl"]
ColumnType = Literal["text", "whole", "number"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the output."""

    name: str
    type: ColumnType
    help: str
    read: Callable[[Page], Any] | None = None
    """From a page; columns without it are filled for every record."""


COLUMNS: Final = (
    Column("place", "text", "File and position the record came from; unique."),
    Column("url", "text", "The page's address."),
    Column("title", "text", "The page's title.", lambda page: page.metadata.title),
    Column("author", "text", 'Names joined by ", ".', lambda page: page.metadata.author),
    Column("published", "text", "ISO 8601, as precise as the page states.", lambda page: page.metadata.published),
    Column("language", "text", "BCP 47 tag.", lambda page: page.metadata.language),
    Column(
        "kind", "text", "article, documentation, forum, product, collection, listing, service.", lambda page: page.kind
    ),
    Column("level", "text", "article, simplified, bookmark or discarded.", lambda page: page.quality.level),
    Column("score", "whole", "Quality, 0 to 100.", lambda page: page.quality.score),
    Column("words", "whole", "Words of the content, in any script.", lambda page: page.word_count),
    Column("document", "text", "Frontmatter and Markdown: the file to keep.", write_document),
    Column("markdown", "text", "The content as Markdown.", lambda page: page.markdown),
    Column("text", "text", "The content's plain words.", lambda page: page.text),
    Column("error_type", "text", "Why there is no page: a type of the error tree. Null when all went well."),
    Column("error", "text", "The same as a sentence."),
    Column("parser_version", "whole", "Version of the parser that made the row."),
    Column("milliseconds", "number", "Time the page took. Only when asked for: it alone differs from run to run."),
)
BY_NAME: Final[Mapping[str, Column]] = {column.name: column for column in COLUMNS}
LONG: Final = ("document", "markdown", "text")
"""Columns that hold whole texts."""
DEFAULT: Final = tuple(column.name for column in COLUMNS if column.name != "milliseconds")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of every record of a run."""

    columns: tuple[str, ...] = DEFAULT
    rules: str | None = None
    """Folder of the user's rules, besides the shipped ones."""
    signature: bool = False
    """Whether near duplicates are looked for."""
    format: OutputFormat = "parquet"
    max_bytes: int = 10_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """A record, and what is wanted of it. Travels to the worker."""

    record: Found
    wanted: Wanted = Wanted()


class Made(NamedTuple):
    """A row, and beside it what filters and the report need, whatever columns are written. Travels back from the worker."""

    cells: Cells
    place: str
    error_type: str | None = None
    error: str | None = None
    language: str | None = None
    kind: str = ""
    level: str = ""
    score: int = 0
    words: int = 0
    milliseconds: float = 0.0
    signature: Signature | None = None


def make_row(job: Job) -> Row:
    """The record's row; a page that cannot be read gives a row that says why."""
    row = _row(job)
    return {name: row.get(name) for name in job.wanted.columns}


def make(job: Job) -> Made:
    """The same as it is written."""
    return _packed(_row(job), job.wanted)


def failed_row(job: Job, error: PagekeepError) -> Row:
    """The row of a record that was the end of the process that read it."""
    row = _error_row(_ready(job.record), error)
    return {name: row.get(name) for name in job.wanted.columns}


def failed(job: Job, error: PagekeepError) -> Made:
    """The same as it is written."""
    return _packed(_error_row(_ready(job.record), error), job.wanted)


def _row(job: Job) -> Row:
    """All wanted columns, those that are always needed, and what a record that gives no page has instead."""
    started = perf_counter()
    record, wanted = _ready(job.record), job.wanted
    if isinstance(record, Refused):
        return _error_row(record, record.error)
    options = Options(encoding=record.encoding, status=record.status, max_bytes=wanted.max_bytes)
    try:
        page = extract(record.html, record.url, rules=_rulebook(wanted.rules), options=options)
    except PagekeepError as error:
        return _error_row(record, error)
    row = {name: _value(BY_NAME[name], page) for name in (*wanted.columns, *_ALWAYS)}
    row |= {"place": record.place, "url": record.url}
    row["milliseconds"] = round((perf_counter() - started) * 1000, 3)
    if wanted.signature:
        row["signature"] = signature(page.text)
    return row


_ALWAYS: Final = ("language", "kind", "level", "score", "words")


def _ready(record: Found) -> Record | Refused:
    return opened(record) if isinstance(record, Line) else record


def _value(column: Column, page: Page) -> Any:
    if column.name == "parser_version":
        return PARSER_VERSION
    return column.read(page) if column.read else None


def _error_row(record: Record | Refused, error: PagekeepError) -> Row:
    told = {"error_type": error.type, "error": error.message, "parser_version": PARSER_VERSION}
    return {"place": record.place, "url": record.url, **told}


def _packed(row: Row, wanted: Wanted) -> Made:
    cells = _line(row, wanted.columns) if wanted.format == "jsonl" else _cells(row, wanted.columns)
    return Made(cells, **{name: row[name] for name in Made._fields[1:] if name in row})


def _line(row: Row, columns: tuple[str, ...]) -> bytes:
    kept = {name: row.get(name) for name in columns}
    return (json.dumps(kept, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _cells(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    """Lone surrogates, which UTF-8 cannot carry, become question marks."""
    values = (row.get(name) for name in columns)
    return tuple(value.encode("utf-8", "replace") if isinstance(value, str) else value for value in values)


@lru_cache(maxsize=4)
def _rulebook(folder: str | None) -> Rulebook:
    return rules.shipped() if folder is None else rules.load(Path(folder))
