"""Extract a batch of columns into columns, for programs such as Ray Data, Dask and Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pagekeep.bulk.engines.local import split_batches
from pagekeep.bulk.input.records import Record, RefusedRecord
from pagekeep.bulk.row import DEFAULT_COLUMNS, Job, RowOptions, failed_row
from pagekeep.bulk.run import ROW_TASK
from pagekeep.errors import ParseError
from pagekeep.workers import Pool


def extract_batch(
    batch: Mapping[str, Sequence[Any]],
    *,
    html: str = "html",
    url: str = "url",
    columns: tuple[str, ...] = DEFAULT_COLUMNS,
) -> dict[str, list[Any]]:
    """Return a list for each of `columns`, with a value for each page in the batch's column `html`, in order.

    The batch is any mapping of columns, such as a dict of lists or arrays or a data frame; its own columns are not returned.
    Pages are extracted in a child process. A page that fails, hangs or crashes gives a row with the error.
    """
    options = RowOptions(columns)
    pages = list(batch[html])
    addresses = list(batch[url]) if url in batch else [None] * len(pages)
    jobs = [
        Job(_record(number, page, address), options)
        for number, (page, address) in enumerate(zip(pages, addresses, strict=True))
    ]
    answers = _pool(os.getpid()).map_batches(split_batches(jobs))
    rows = [row if error is None else failed_row(job, error) for row, error, job in answers]
    return {name: [row[name] for row in rows] for name in columns}


def _record(number: int, page: Any, address: Any) -> Record | RefusedRecord:
    url = str(address) if isinstance(address, str) and address else None  # data frames use NaN for a missing value
    if not isinstance(page, (str, bytes)):
        return RefusedRecord(str(number), url, ParseError("The row contains no HTML."))
    return Record(str(number), url, page)


@lru_cache(maxsize=1)
def _pool(_process: int) -> Pool:
    """Return a pool with one child per process; a forked process gets its own."""
    return Pool(ROW_TASK, 1)
