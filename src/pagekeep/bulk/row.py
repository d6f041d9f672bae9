"""Extract a record into a row of the output; every engine uses these functions."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal, NamedTuple

from pagekeep import rules
from pagekeep.bulk.duplicates import Signature, compute_signature
from pagekeep.bulk.input_files import Line, Record, RefusedRecord
from pagekeep.bulk.read_records import InputRecord, decode_line
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.extract import TEXT_TYPES
from pagekeep.errors import PagekeepError
from pagekeep.markdown import write_document
from pagekeep.model import PARSER_VERSION, Options, Page
from pagekeep.pipeline import extract
from pagekeep.rules.rulebook import Rulebook

Row = dict[str, Any]
Cells = tuple[Any, ...] | bytes
"""A row ready to be written: the values in the order of the columns with text as UTF-8, or a line of JSON."""
OutputFormat = Literal["parquet", "jsonl"]
ColumnType = Literal["text", "integer", "number"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the output."""

    name: str
    type: ColumnType
    help: str
    read: Callable[[Page], Any] | None = None
    """Returns the value of a page; `None` for columns that failed records have too."""


COLUMNS: Final = (
    Column("place", "text", "File and position the record came from; unique."),
    Column("url", "text", "The page's address."),
    Column("title", "text", "The page's title.", lambda page: page.metadata.title),
    Column("author", "text", 'Names joined by ", ".', lambda page: page.metadata.author),
    Column("published", "text", "ISO 8601, as precise as the page states.", lambda page: page.metadata.published),
    Column("language", "text", "BCP 47 tag.", lambda page: page.metadata.language),
    Column(
        "kind",
        "text",
        "article, documentation, forum, product, collection, listing, service, document.",
        lambda page: page.kind,
    ),
    Column("file_type", "text", "PDF and other types of documents; null for web pages.", lambda page: page.file_type),
    Column("level", "text", "article, simplified, bookmark or discarded.", lambda page: page.quality.level),
    Column("score", "integer", "Quality, 0 to 100.", lambda page: page.quality.score),
    Column("words", "integer", "Words of the content, in any script.", lambda page: page.word_count),
    Column("document", "text", "Frontmatter and Markdown: the file to keep.", write_document),
    Column("markdown", "text", "The content as Markdown.", lambda page: page.markdown),
    Column("text", "text", "The content as plain text.", lambda page: page.text),
    Column("error_type", "text", "The error's type when the page could not be extracted; null otherwise."),
    Column("error", "text", "The error's message."),
    Column("parser_version", "integer", "Version of the parser that wrote the row."),
    Column("milliseconds", "number", "Extraction time. Not a default column: it differs from run to run."),
)
COLUMNS_BY_NAME: Final[Mapping[str, Column]] = {column.name: column for column in COLUMNS}
LONG_COLUMNS: Final = ("document", "markdown", "text")
"""Columns with whole texts."""
DEFAULT_COLUMNS: Final = tuple(column.name for column in COLUMNS if column.name != "milliseconds")


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How to extract the records of a run."""

    columns: tuple[str, ...] = DEFAULT_COLUMNS
    rules: str | None = None
    """Folder with the user's rules, used besides the shipped ones."""
    signature: bool = False
    """Whether to compute the signatures that duplicates are found by."""
    format: OutputFormat = "parquet"
    max_bytes: int = 10_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """A record and its options, as sent to a worker."""

    record: InputRecord
    options: RowOptions = RowOptions()


class RowResult(NamedTuple):
    """A row, with the values that filters and the report need even when their columns are not written."""

    cells: Cells
    place: str
    error_type: str | None = None
    error: str | None = None
    language: str | None = None
    kind: str = ""
    file_type: str | None = None
    level: str = ""
    score: int = 0
    words: int = 0
    milliseconds: float = 0.0
    signature: Signature | None = None


def make_row(job: Job) -> Row:
    """Return the record's row as a dict; a page that fails gives a row with the error."""
    row = _extract_row(job)
    return {name: row.get(name) for name in job.options.columns}


def make_result(job: Job) -> RowResult:
    """Return the record's row ready to be written."""
    return _pack(_extract_row(job), job.options)


def failed_row(job: Job, error: PagekeepError) -> Row:
    """Return the row of a record whose worker crashed or was stopped, as a dict."""
    row = _error_row(_decode_record(job.record), error)
    return {name: row.get(name) for name in job.options.columns}


def failed_result(job: Job, error: PagekeepError) -> RowResult:
    """Return the row of a record whose worker crashed or was stopped, ready to be written."""
    return _pack(_error_row(_decode_record(job.record), error), job.options)


def _extract_row(job: Job) -> Row:
    """Return the values of the chosen columns and of those that the report needs, or the error's."""
    started = perf_counter()
    record, chosen = _decode_record(job.record), job.options
    if isinstance(record, RefusedRecord):
        return _error_row(record, record.error)
    options = Options(encoding=record.encoding, status=record.status, max_bytes=chosen.max_bytes)
    try:
        page = _extract_page(record, options, chosen.rules)
    except PagekeepError as error:
        return _error_row(record, error)
    row = {name: _column_value(COLUMNS_BY_NAME[name], page) for name in (*chosen.columns, *_REPORT_COLUMNS)}
    row |= {"place": record.place, "url": record.url}
    row["milliseconds"] = round((perf_counter() - started) * 1000, 3)
    if chosen.signature:
        row["signature"] = compute_signature(page.text)
    return row


def _extract_page(record: Record, options: Options, rules: str | None) -> Page:
    """Return the page or document of a record; this process is a worker already."""
    data = unpack_file(record.html)
    file_type = detect(data, record.content_type) if isinstance(data, bytes) else None
    if file_type and isinstance(data, bytes):
        from pagekeep.capture.documents.read import read_document

        return read_document(file_type, data, record.url, options)
    if record.content_type in TEXT_TYPES:
        from pagekeep.capture.plain_text import keep_text

        return keep_text(data, record.url, options)
    return extract(data, record.url, rules=_rulebook(rules), options=options)


def unpack_file(page: str | bytes) -> str | bytes:
    """Return the document in a column of text, which holds it in Base64; any other page as it is."""
    start = page[:_BASE64_CHARS]
    head = start.encode("ascii", "replace") if isinstance(start, str) else start
    if not _BASE64.fullmatch(head):
        return page
    try:
        return b64decode(page, validate=True) if detect(b64decode(head[: len(head) // 4 * 4])) else page
    except ValueError:
        return page


_BASE64: Final = re.compile(rb"[A-Za-z0-9+/]{16,}={0,2}")
_BASE64_CHARS: Final = 1_368
"""Enough to recognise the type of a file: its first 1,024 bytes."""
_REPORT_COLUMNS: Final = ("language", "kind", "file_type", "level", "score", "words")


def _decode_record(record: InputRecord) -> Record | RefusedRecord:
    return decode_line(record) if isinstance(record, Line) else record


def _column_value(column: Column, page: Page) -> Any:
    if column.name == "parser_version":
        return PARSER_VERSION
    return column.read(page) if column.read else None


def _error_row(record: Record | RefusedRecord, error: PagekeepError) -> Row:
    failure = {"error_type": error.type, "error": error.message, "parser_version": PARSER_VERSION}
    return {"place": record.place, "url": record.url, **failure}


def _pack(row: Row, options: RowOptions) -> RowResult:
    cells = _json_line(row, options.columns) if options.format == "jsonl" else _cells(row, options.columns)
    return RowResult(cells, **{name: row[name] for name in RowResult._fields[1:] if name in row})


def _json_line(row: Row, columns: tuple[str, ...]) -> bytes:
    values = {name: row.get(name) for name in columns}
    return (json.dumps(values, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _cells(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the values with text as UTF-8; lone surrogates, which it cannot express, become question marks."""
    values = (row.get(name) for name in columns)
    return tuple(value.encode("utf-8", "replace") if isinstance(value, str) else value for value in values)


@lru_cache(maxsize=4)
def _rulebook(folder: str | None) -> Rulebook:
    return rules.shipped() if folder is None else rules.load(Path(folder))
