"""Build Arrow tables from rows.

The arrays are built from buffers: pyarrow's own conversion from lists is slower, and imports pandas where that is installed,
which takes 0.2 s and 45 MB.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from pagekeep.bulk.input.read import require_pyarrow
from pagekeep.bulk.row import COLUMNS_BY_NAME, Cells

_ARRAY_CODES: Final = {"integer": "i", "number": "f"}


def build_schema(columns: Sequence[str]) -> Any:
    """Return the schema of these columns."""
    pyarrow = require_pyarrow()
    types = {"text": pyarrow.string(), "integer": pyarrow.int32(), "number": pyarrow.float32()}
    return pyarrow.schema([(name, types[COLUMNS_BY_NAME[name].type]) for name in columns])


def build_table(rows: Sequence[Cells], columns: Sequence[str]) -> Any:
    """Return the rows as a table of the documented schema."""
    pyarrow = require_pyarrow()
    schema = build_schema(columns)
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [
        pyarrow.Array.from_buffers(
            kind, len(rows), list(map(pyarrow.py_buffer, _buffers(COLUMNS_BY_NAME[name].type, cells)))
        )
        for name, kind, cells in zip(columns, schema.types, values, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _buffers(kind: str, cells: Sequence[Any]) -> list[Any]:
    """Return Arrow's buffers: validity, offsets and text for texts, validity and values for numbers."""
    if kind == "text":
        texts = [cell or b"" for cell in cells]
        return [_validity_bitmap(cells), array("i", accumulate(map(len, texts), initial=0)), b"".join(texts)]
    return [_validity_bitmap(cells), array(_ARRAY_CODES[kind], [cell or 0 for cell in cells])]


def _validity_bitmap(cells: Sequence[Any]) -> bytes:
    """Return a bit for each cell that has a value, the first cell in the lowest bit."""
    bits = "".join("0" if cell is None else "1" for cell in reversed(cells))
    return int(bits or "0", 2).to_bytes((len(cells) + 7) // 8, "little")
