"""What goes out: one row a record. The same function whatever engine runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal

from pagekeep import rules
from pagekeep.bulk.records import Record, Refused
from pagekeep.errors import PagekeepError
from pagekeep.model import PARSER_VERSION, Options, Page
from pagekeep.pipeline import extract
from pagekeep.rules.rulebook import Rulebook

Row = dict[str, Any]
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
    Column("document", "text", "Frontmatter and Markdown: the file to keep.", lambda page: page.document),
    Column("markdown", "text", "The content as Markdown.", lambda page: page.markdown),
    Column("text", "text", "The content's plain words.", lambda page: page.text),
    Column("error_type", "text", "Why there is no page: a type of the error tree. Null when all went well."),
    Column("error", "text", "The same as a sentence."),
    Column("parser_version", "whole", "Version of the parser that made the row."),
    Column("milliseconds", "number", "Time the page took. Only when asked for: it alone differs from run to run."),
)
BY_NAME: Final[Mapping[str, Column]] = {column.name: column for column in COLUMNS}
DEFAULT: Final = tuple(column.name for column in COLUMNS if column.name != "milliseconds")


@dataclass(frozen=True, slots=True)
class Job:
    """A record, and what is wanted of it. Travels to the worker."""

    record: Record | Refused
    columns: tuple[str, ...] = DEFAULT
    rules: str | None = None
    """Folder of the user's rules, besides the shipped ones."""
    signature: bool = False
    """Whether near duplicates are looked for."""


def make_row(job: Job) -> Row:
    """The record's row; a page that cannot be read gives a row that says why."""
    started = perf_counter()
    record = job.record
    if isinstance(record, Refused):
        return error_row(record.place, record.url, record.error, job.columns)
    options = Options(encoding=record.encoding, status=record.status)
    try:
        page = extract(record.html, record.url, rules=_rulebook(job.rules), options=options)
    except PagekeepError as error:
        return error_row(record.place, record.url, error, job.columns)
    row = {name: _value(BY_NAME[name], page) for name in (*job.columns, *_ALWAYS)}
    row |= {"place": record.place, "url": record.url}
    row["milliseconds"] = round((perf_counter() - started) * 1000, 3)
    if job.signature:
        from pagekeep.bulk.duplicates import signature

        row["signature"] = signature(page.text)
    return row


_ALWAYS: Final = ("language", "kind", "level", "score", "words", "parser_version")
"""Filters and the report need these, whatever columns are written."""


def _value(column: Column, page: Page) -> Any:
    if column.name == "parser_version":
        return PARSER_VERSION
    return column.read(page) if column.read else None


def error_row(place: str, url: str | None, error: PagekeepError, columns: tuple[str, ...]) -> Row:
    """The row of a record that gives no page."""
    row: Row = dict.fromkeys((*columns, *_ALWAYS))
    row |= {"place": place, "url": url, "error_type": error.type, "error": error.message}
    return row | {"parser_version": PARSER_VERSION}


@lru_cache(maxsize=4)
def _rulebook(folder: str | None) -> Rulebook:
    return rules.shipped() if folder is None else rules.load(Path(folder))
