"""Imported pages fetched at once, some at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.library.imports.report import Report
from pagekeep.library.save import save
from pagekeep.model import Item
from pagekeep.store import Store


async def fetch_all(items: Iterable[Item], store: Store, retrieval: Retrieval, report: Report, lanes: int = 8) -> None:
    """Fetch the live pages. Where one is gone or worse, what the import brought stays; the item tells why."""
    waiting = iter(items)

    async def lane() -> None:
        for item in waiting:
            try:
                await save(Request(item.url_full), store, retrieval, known=item)
                report.fetched += 1
            except StoreError:
                raise
            except PagekeepError as error:
                report.not_fetched += 1
                report.remark(item.url_full, f"It could not be fetched: {error.message}")

    async with asyncio.TaskGroup() as group:
        for _ in range(lanes):
            group.create_task(lane())
