"""Export the library: a folder of Markdown files, or one file of another format, such as browsers' bookmarks."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, cast

from pagekeep.errors import Conflict, StoreError
from pagekeep.library.archive.pictures import find_picture_urls, replace_picture_urls
from pagekeep.library.exports import jsonl, markdown_files
from pagekeep.library.exports.markdown_files import Profile, file_name
from pagekeep.library.exports.selection import (
    PICTURE_FOLDER,
    PICTURE_SOURCES,
    PictureFetcher,
    SelectedItem,
    with_annotations,
)
from pagekeep.library.items.find import get_items, walk_items
from pagekeep.model import Item
from pagekeep.store import Store

if TYPE_CHECKING:
    from pagekeep.config import Settings


Format = Literal["markdown", "jsonl", "netscape", "html", "epub", "warc", "wacz"]
FORMATS: Final[tuple[Format, ...]] = ("markdown", "jsonl", "netscape", "html", "epub", "warc", "wacz")


FILES: Final[dict[Format, tuple[str, str]]] = {
    "jsonl": ("pagekeep.jsonl", "application/x-ndjson"),
    "markdown": ("pagekeep-markdown.zip", "application/zip"),
    "netscape": ("bookmarks.html", "text/html; charset=utf-8"),
    "html": ("pagekeep.html", "text/html; charset=utf-8"),
    "epub": ("pagekeep.epub", "application/epub+zip"),
    "warc": ("pagekeep.warc.gz", "application/warc"),
    "wacz": ("pagekeep.wacz", "application/wacz"),
}
"""Name and type of the file of each format."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to export, and how."""

    format: Format = "markdown"
    query: str | None = None
    profile: Profile = "pagekeep"
    images: bool = False
    """Whether to save pictures beside Markdown files, and to download those that are not kept. Books and HTML pages always
    have the kept ones."""
    progress: Callable[[int], None] = lambda _count: None
    """Called after each item with the number exported so far."""
    ids: tuple[str, ...] | None = None
    """Only these items, in this order."""


@dataclass(slots=True)
class ExportReport:
    """The result of an export."""

    items: int = 0
    written: int = 0
    """Files that are new or have changed."""
    unchanged: int = 0
    pictures: int = 0
    failed_pictures: dict[str, str] = field(default_factory=dict)
    """Reasons by address; these pictures keep their web address."""


async def export(store: Store, out: Path | BinaryIO, options: ExportOptions, settings: Settings) -> ExportReport:
    """Write the items to a folder (Markdown), to a file, or to an open stream (every format but Markdown).

    Files are replaced atomically. In a folder only the files of exported items are touched.
    """
    report = ExportReport()
    async with _open_fetcher(store, settings, options) as pictures:
        if options.format == "markdown":
            if not isinstance(out, Path):
                raise Conflict(
                    "Markdown is exported to a folder, not to a stream.",
                    suggestions=("Name a folder, or choose another format.",),
                )
            await _write_markdown_folder(store, out, options, pictures, report)
        else:
            with _translate_disk_errors(), open_atomically(out) as stream:
                await _write_one_file(store, stream, options, pictures, report)
                stream.flush()
            report.written += 1
        if pictures is not None:
            report.failed_pictures = pictures.failed
            report.pictures = len(set(pictures.names.values()))
    return report


@asynccontextmanager
async def _open_fetcher(
    store: Store, settings: Settings, options: ExportOptions
) -> AsyncIterator[PictureFetcher | None]:
    if not options.images:
        yield PictureFetcher(store, None) if options.format in ("html", "epub") else None
        return
    from pagekeep.fetch.client import Client

    async with Client(settings) as client:
        yield PictureFetcher(store, client)


def choose_name(item: Item, taken: dict[str, str]) -> str:
    """Return the name of an item's file, which no other item has; `taken` maps names to the ids of their items."""
    name = file_name(item.title, item.id)
    if taken.setdefault(name.casefold(), item.id) != item.id:
        name = file_name(f"{item.title[:80]} {item.id}", item.id)
    return name


def select_items(store: Store, options: ExportOptions, report: ExportReport) -> Iterator[SelectedItem]:
    """Yield the items to export, and count them."""
    items = walk_items(store, options.query) if options.ids is None else get_items(store, options.ids)
    for selected in with_annotations(store, items):
        yield selected
        report.items += 1
        options.progress(report.items)


async def _write_one_file(
    store: Store, out: BinaryIO, options: ExportOptions, pictures: PictureFetcher | None, report: ExportReport
) -> None:
    items = select_items(store, options, report)
    if options.format == "jsonl":
        for one in items:
            line = jsonl.write_line(one.item, one.annotations, one.reading)
            out.write(f"{line}\n".encode("utf-8", "replace"))
    elif options.format == "netscape":
        for piece in format_bookmarks(one.item for one in items):
            out.write(piece.encode("utf-8", "replace"))
    elif options.format == "html":
        from pagekeep.library.exports.article_html import write_page

        await write_page(out, items, pictures)
    elif options.format in ("warc", "wacz"):
        from pagekeep.library.exports import web_archive  # it loads the WARC library

        (web_archive.write_warc if options.format == "warc" else web_archive.write_wacz)(out, items, store)
    else:
        from pagekeep.library.exports.epub import write_book

        await write_book(out, items, pictures)


async def _write_markdown_folder(
    store: Store, out: Path, options: ExportOptions, pictures: PictureFetcher | None, report: ExportReport
) -> None:
    with _translate_disk_errors():
        out.mkdir(parents=True, exist_ok=True)
    taken: dict[str, str] = {}
    sources: dict[str, str] = {}
    for one in select_items(store, options, report):
        name = choose_name(one.item, taken)
        text = markdown_files.write(one.item, one.annotations, options.profile)
        if pictures is not None:
            text = await _save_pictures(text, out / PICTURE_FOLDER, pictures, sources)
        with _translate_disk_errors():
            written = write_file(out / name, text.encode("utf-8", "replace"))
        report.written += written
        report.unchanged += not written
    if sources:
        with _translate_disk_errors():
            write_file(out / PICTURE_SOURCES, (json.dumps(sources, indent=1, sort_keys=True) + "\n").encode())


async def _save_pictures(text: str, folder: Path, pictures: PictureFetcher, sources: dict[str, str]) -> str:
    """Save the text's pictures in the folder and return the text that shows them from there.

    Pictures that were fetched for another item are not fetched again.
    """
    urls = find_picture_urls(text)
    fetched = await pictures.fetch(url for url in urls if url not in pictures.names)
    with _translate_disk_errors():
        for picture in fetched.values():
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / picture.name).exists():
                write_file(folder / picture.name, picture.data)
    paths = {url: f"{PICTURE_FOLDER}/{pictures.names[url]}" for url in urls if url in pictures.names}
    for url, path in paths.items():
        sources.setdefault(path, url)
    return replace_picture_urls(text, paths)


def write_file(path: Path, data: bytes) -> bool:
    """Write a file atomically, unless it has these bytes already; return whether it was written."""
    if path.is_file() and not path.is_symlink() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return False
    draft = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        draft.write_bytes(data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return True


@contextmanager
def _translate_disk_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the program that reads the stream has ended
        raise
    except OSError as error:
        raise StoreError(
            f"The export cannot be written: {error.strerror or 'disk error'}.",
            suggestions=("Check the path and the free space on its disk. The library is not affected.",),
        ) from None


@contextmanager
def open_atomically(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when complete; a stream is used as it is."""
    if not isinstance(out, Path):
        yield out
        return
    draft = out.with_name(f".{secrets.token_hex(8)}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as stream:
            yield cast("BinaryIO", stream)
        os.replace(draft, out)
    finally:
        draft.unlink(missing_ok=True)


_HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
"""


def format_bookmarks(items: Iterable[Item]) -> Iterator[str]:
    """Yield the file in pieces: one link per item, with its dates, tags and description. Archived items count as read."""
    yield _HEAD
    for item in items:
        yield _format_link(item)
    yield "</DL><p>\n"


def _format_link(item: Item) -> str:
    known = item.metadata
    tags = ",".join(" ".join(tag.replace(",", " ").split()) for tag in known.tags)
    attributes = {
        # An address that an older import did not check may be a script, which a browser would keep as a bookmarklet.
        "HREF": item.url_full if item.url_full.startswith(("http://", "https://")) else item.url,
        "ADD_DATE": _timestamp(item.saved_at),
        "LAST_MODIFIED": _timestamp(item.updated_at),
        "PRIVATE": "1",
        "TOREAD": "0" if known.archived else "1",
        "TAGS": tags,
    }
    html = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items() if value)
    line = f"    <DT><A {html}>{escape(_one_line(item.title))}</A>\n"
    description = _one_line(known.description or "")
    return line + (f"    <DD>{escape(description)}\n" if description else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _timestamp(time: str) -> str:
    try:
        return str(int(datetime.fromisoformat(time).astimezone(UTC).timestamp()))
    except ValueError:
        return ""
