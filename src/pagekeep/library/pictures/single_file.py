"""Save a page that a browser sent as one file: its pictures are kept as files, and the rest is a page like any other."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import replace
from pathlib import Path

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.pictures.peel import PEEL, PeelTask
from pagekeep.capture.uploads import sent_page
from pagekeep.library.items import get_item
from pagekeep.library.pictures.addresses import normal_source
from pagekeep.library.pictures.keep import keep_uploaded
from pagekeep.library.pictures.wanted import wanted_sources
from pagekeep.library.save import save
from pagekeep.model import SaveResult
from pagekeep.store import Store


async def save_single_file(
    path: Path, url: str, store: Store, retrieval: Retrieval, *, tags: tuple[str, ...] = ()
) -> SaveResult:
    """Save the page in a file under its address. The file is read in a worker, and never parsed with its pictures inside."""
    empty = sent_page(url, "")
    peeled = await retrieval.run(PeelTask(str(path)), PEEL)
    saved = await save(Request(url), store, retrieval, tags=tags, uploaded=replace(empty, body=peeled.html))
    wanted = set(wanted_sources(saved.item, retrieval.settings))
    for address, data in peeled.pictures.items():
        if normal_source(address) in wanted:
            await keep_uploaded(saved.item, store, retrieval, address, data)
    return replace(saved, item=await to_thread(get_item, store, saved.item.id))
