"""Write a pack in one of its forms."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.library.crawl.outputs import write_file
from pagekeep.library.packs.book import write_pack_book
from pagekeep.library.packs.folder import write_folder
from pagekeep.library.packs.from_crawl import Pack, make_pack
from pagekeep.library.packs.llms import write_llms, write_llms_full
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store

KINDS: Final = ("folder", "llms", "epub")
"""A folder of Markdown; a folder with `llms.txt` and `llms-full.txt`; an EPUB file."""


async def write_pack(store: Store, crawl: Crawl, kind: str, path: Path, retrieval: Retrieval) -> int:
    """Write the pages of a crawl as a pack; return how many."""
    pack = await make_pack(store, crawl, retrieval)
    if kind == "folder":
        return await to_thread(write_folder, pack.title, pack.url, pack.summary, pack.pages, path)
    if kind == "llms":
        await to_thread(_write_llms, pack, path)
    else:
        await to_thread(write_file, path, lambda file: write_pack_book(pack, crawl.started_at, file))
    return len(pack.pages)


def _write_llms(pack: Pack, folder: Path) -> None:
    parts = {
        "llms.txt": write_llms(pack.title, pack.summary, pack.pages),
        "llms-full.txt": write_llms_full(pack.title, pack.summary, pack.pages),
    }
    for name, lines in parts.items():
        write_file(folder / name, partial(_write_lines, lines))


def _write_lines(lines: Iterable[str], file: BinaryIO) -> None:
    file.writelines(line.encode("utf-8", "replace") for line in lines)
