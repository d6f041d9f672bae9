"""Columns in, columns out: for programs that hand over a batch at a time, such as Ray Data, Dask and Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pagekeep.bulk.engines.local import in_batches
from pagekeep.bulk.input.records import Record, Refused
from pagekeep.bulk.row import DEFAULT, Job, Wanted, failed_row
from pagekeep.bulk.run import ROW
from pagekeep.errors import ParseError
from pagekeep.workers import Pool


def extract_batch(
    batch: Mapping[str, Sequence[Any]],
    *,
    html: str = "html",
    url: str = "url",
    columns: tuple[str, ...] = DEFAULT,
) -> dict[str, list[Any]]:
    """A list for each of `columns`, for the pages in the column `html` of the batch, in their order.

    Any mapping of columns will do: a dict of lists or arrays, a data frame. A page that fails gives a row that says why, and so
    does one that hangs or crashes, for pages are read in a child of the process that calls. Columns that came are not returned.
    """
    wanted = Wanted(columns)
    pages = list(batch[html])
    addresses = list(batch[url]) if url in batch else [None] * len(pages)
    jobs = [
        Job(_record(number, page, address), wanted)
        for number, (page, address) in enumerate(zip(pages, addresses, strict=True))
    ]
    answers = _pool(os.getpid()).map_batches(in_batches(jobs))
    rows = [row if error is None else failed_row(job, error) for row, error, job in answers]
    return {name: [row[name] for row in rows] for name in columns}


def _record(number: int, page: Any, address: Any) -> Record | Refused:
    url = str(address) if isinstance(address, str) and address else None  # tables of numbers say "nothing" with NaN
    if not isinstance(page, (str, bytes)):
        return Refused(str(number), url, ParseError("The row holds no HTML."))
    return Record(str(number), url, page)


@lru_cache(maxsize=1)
def _pool(_process: int) -> Pool:
    """One child for as long as the process lives; a process that was forked gets its own."""
    return Pool(ROW, 1)
