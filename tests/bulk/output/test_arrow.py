"""Tables made from buffers are those the library would make."""

from __future__ import annotations

import subprocess
import sys

import pyarrow

from pagekeep.bulk.output import build_schema, build_table

COLUMNS = ("url", "words", "milliseconds")


def test_rows_come_out_as_they_were() -> None:
    rows = [(b"a", 1, 0.5), (None, None, None), (b"", 0, 0.0), ("Stra\u00dfe".encode(), -7, 2.25)] * 5
    table = build_table(rows, COLUMNS)
    table.validate(full=True)
    values = [[None if cell is None else cell for cell in column] for column in zip(*rows, strict=True)]
    wanted = pyarrow.table(
        [pyarrow.array(column, kind) for column, kind in zip(values, build_schema(COLUMNS).types, strict=True)],
        schema=build_schema(COLUMNS),
    )
    assert table.equals(wanted)
    assert [table[name].null_count for name in COLUMNS] == [5, 5, 5]


def test_no_rows_give_an_empty_table_of_the_same_schema() -> None:
    table = build_table([], COLUMNS)
    table.validate(full=True)
    assert (table.num_rows, table.schema) == (0, build_schema(COLUMNS))


def test_pandas_is_not_imported() -> None:
    script = "import sys; from pagekeep.bulk.output import build_table; build_table([(b'a',)], ('url',)); print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "False"
