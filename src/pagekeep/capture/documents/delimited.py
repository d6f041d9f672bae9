"""CSV and TSV as a table: the separator, quotes and rows of different lengths as they come."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import suppress
from html import escape
from itertools import islice
from typing import Final

from pagekeep.capture.documents.parsed import EmptyFile, ParsedDocument, decode_text
from pagekeep.model import Metadata, Options, PageWarning
from pagekeep.text import number_of

MAX_ROWS: Final = 2_000
"""More are data for a program, not a table to read."""
MAX_COLUMNS: Final = 100
MAX_CELL_CHARS: Final = 2_000
_MAX_CHARS: Final = 8_000_000
_SEPARATORS: Final = (",", ";", "\t", "|")
_SAMPLE_LINES: Final = 60


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the table in a file of separated values."""
    text, warnings = decode_text(data, options, _MAX_CHARS)
    if (declared := _declared_separator(text)) is not None:
        text = text.partition("\n")[2]
    separator = declared or find_separator(text)
    rows, is_cut = _read_rows(text, separator)
    if not rows:
        raise EmptyFile
    width = min(max(map(len, rows)), MAX_COLUMNS)
    if is_cut:
        warnings = (*warnings, PageWarning("truncated", f"only the first {len(rows):,} rows were read"))
    if max(map(len, rows)) > MAX_COLUMNS:
        warnings = (*warnings, PageWarning("truncated", f"only the first {MAX_COLUMNS} columns were read"))
    html = "".join(_write_row(row, width, "th" if index == 0 else "td") for index, row in enumerate(rows))
    how = f"a table of {number_of(len(rows), 'row')} and {number_of(width, 'column')}"
    return ParsedDocument(f"<table>{html}</table>", Metadata(), how, warnings=warnings)


def _declared_separator(text: str) -> str | None:
    """Return the separator that a first line `sep=;` names, as Excel writes it."""
    line = text.partition("\n")[0].strip().strip('"')
    return line[4:] if line.lower().startswith("sep=") and len(line) == 5 else None


def find_separator(text: str) -> str:
    """Return the separator by which most of the first rows have the same number of columns."""
    sample = "\n".join(text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES])
    best, chosen = (0.0, 0), ","
    for separator in _SEPARATORS:
        widths = Counter(len(row) for row in _parse(sample, separator) if row)
        if not widths:
            continue
        columns, times = max(widths.items(), key=lambda item: (item[1] if item[0] > 1 else 0, item[0]))
        score = (times / widths.total() if columns > 1 else 0.0, columns)
        if score > best:
            best, chosen = score, separator
    return chosen


def _parse(text: str, separator: str) -> list[list[str]]:
    csv.field_size_limit(10_000_000)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: list[list[str]] = []
    with suppress(csv.Error):  # what could be read is kept
        rows.extend(islice(reader, MAX_ROWS + 1))
    return rows


def _read_rows(text: str, separator: str) -> tuple[list[list[str]], bool]:
    """Return the rows that have anything, and whether there are more."""
    rows = _parse(text, separator)
    is_cut = len(rows) > MAX_ROWS
    return [row for row in rows[:MAX_ROWS] if any(cell.strip() for cell in row)], is_cut


def _write_row(row: list[str], width: int, tag: str) -> str:
    cells = [*row[:width], *([""] * (width - len(row)))]
    return f"<tr>{''.join(f'<{tag}>{_write_cell(cell)}</{tag}>' for cell in cells)}</tr>"


def _write_cell(cell: str) -> str:
    return "<br>".join(escape(line.strip(), quote=False) for line in cell[:MAX_CELL_CHARS].strip().split("\n"))
