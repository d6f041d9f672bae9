"""Rows as a table of Arrow.

Its arrays are put together from their buffers: the library's own way from a list imports pandas where that is installed, which
takes 0.2 s and 45 MB, and is slower.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from pagekeep.bulk.input.read import needed_pyarrow
from pagekeep.bulk.row import BY_NAME, Cells

_CODES: Final = {"whole": "i", "number": "f"}


def schema(columns: Sequence[str]) -> Any:
    """The schema of these columns."""
    pyarrow = needed_pyarrow()
    types = {"text": pyarrow.string(), "whole": pyarrow.int32(), "number": pyarrow.float32()}
    return pyarrow.schema([(name, types[BY_NAME[name].type]) for name in columns])


def table_of(rows: Sequence[Cells], columns: Sequence[str]) -> Any:
    """Rows as a table of the documented schema."""
    pyarrow = needed_pyarrow()
    whole = schema(columns)
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [
        pyarrow.Array.from_buffers(kind, len(rows), list(map(pyarrow.py_buffer, _buffers(BY_NAME[name].type, cells))))
        for name, kind, cells in zip(columns, whole.types, values, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=whole)


def _buffers(kind: str, cells: Sequence[Any]) -> list[Any]:
    """Which cells hold something, where each text begins, and all of them together; or which, and the numbers."""
    if kind == "text":
        texts = [cell or b"" for cell in cells]
        return [_present(cells), array("i", accumulate(map(len, texts), initial=0)), b"".join(texts)]
    return [_present(cells), array(_CODES[kind], [cell or 0 for cell in cells])]


def _present(cells: Sequence[Any]) -> bytes:
    """A bit for each cell, the first one the lowest."""
    bits = "".join("0" if cell is None else "1" for cell in reversed(cells))
    return int(bits or "0", 2).to_bytes((len(cells) + 7) // 8, "little")
