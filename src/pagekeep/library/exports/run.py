"""The library into files: a folder of Markdown, or one file of another format."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, cast

from pagekeep.errors import Conflict, StoreError
from pagekeep.library.exports import jsonl, markdown_files, netscape
from pagekeep.library.exports.file_names import file_name
from pagekeep.library.exports.markdown_files import Profile
from pagekeep.library.exports.pictures import Picture, Pictures, moved, pictures_in
from pagekeep.library.exports.select import chosen
from pagekeep.model import Item
from pagekeep.store import Store

if TYPE_CHECKING:
    from pagekeep.config import Settings

Format = Literal["markdown", "jsonl", "netscape", "html", "epub"]
FORMATS: Final[tuple[Format, ...]] = ("markdown", "jsonl", "netscape", "html", "epub")
IMAGES: Final = "images"
SOURCES: Final = "sources.json"


@dataclass(frozen=True, slots=True)
class Wish:
    """What to export, and how."""

    format: Format = "markdown"
    query: str | None = None
    profile: Profile = "pagekeep"
    images: bool = False
    progress: Callable[[int], None] = lambda _count: None
    """Called with the number of items that are done."""


@dataclass(slots=True)
class Exported:
    """What became of an export."""

    items: int = 0
    written: int = 0
    """Files that are new or changed."""
    unchanged: int = 0
    pictures: int = 0
    failed_pictures: dict[str, str] = field(default_factory=dict)
    """Address to reason; their links lead to the web as before."""


async def export(store: Store, out: Path | BinaryIO, wish: Wish, settings: Settings) -> Exported:
    """Write the items to a folder (Markdown) or a file, or to an open stream where the format is one file.

    A file appears whole or not at all. In a folder only files of the items written are touched.
    """
    done = Exported()
    async with _pictures(settings, wanted=wish.images) as pictures:
        if wish.format == "markdown":
            if not isinstance(out, Path):
                raise Conflict("Markdown goes to a folder, not to a stream.", suggestions=("Name a folder.",))
            await _markdown(store, out, wish, pictures, done)
        else:
            with _whole(out) as stream:
                await _one_file(store, stream, wish, pictures, done)
            done.written += 1
        if pictures is not None:
            done.failed_pictures = pictures.failed
            done.pictures = len(set(pictures.names.values()))
    return done


@asynccontextmanager
async def _pictures(settings: Settings, *, wanted: bool) -> AsyncIterator[Pictures | None]:
    if not wanted:
        yield None
        return
    from pagekeep.fetch.client import Client

    async with Client(settings) as client:
        yield Pictures(client)


def _counted(store: Store, wish: Wish, done: Exported) -> Iterator[Item]:
    for item in chosen(store, wish.query):
        yield item
        done.items += 1
        wish.progress(done.items)


async def _one_file(store: Store, out: BinaryIO, wish: Wish, pictures: Pictures | None, done: Exported) -> None:
    items = _counted(store, wish, done)
    if wish.format == "jsonl":
        for item in items:
            out.write((jsonl.write_line(item, store.annotations(item.id)) + "\n").encode("utf-8", "replace"))
    elif wish.format == "netscape":
        for piece in netscape.bookmarks(items):
            out.write(piece.encode("utf-8", "replace"))
    elif wish.format == "html":
        from pagekeep.library.exports.single_page import write_page

        await write_page(out, items, store, pictures)
    else:
        from pagekeep.library.exports.epub import write_book

        await write_book(out, items, store, pictures)


async def _markdown(store: Store, out: Path, wish: Wish, pictures: Pictures | None, done: Exported) -> None:
    with _disk():
        out.mkdir(parents=True, exist_ok=True)
    taken: dict[str, str] = {}
    sources: dict[str, str] = {}
    for item in _counted(store, wish, done):
        name = file_name(item.title, item.id)
        if taken.setdefault(name.casefold(), item.id) != item.id:
            name = file_name(f"{item.title[:80]} {item.id}", item.id)
        text = markdown_files.write(item, store.annotations(item.id), wish.profile)
        if pictures is not None:
            text = await _with_pictures(text, out / IMAGES, pictures, sources)
        with _disk():
            written = put(out / name, text.encode("utf-8", "replace"))
        done.written += written
        done.unchanged += not written
    if sources:
        with _disk():
            put(out / IMAGES / SOURCES, (json.dumps(sources, indent=1, sort_keys=True) + "\n").encode())


async def _with_pictures(text: str, folder: Path, pictures: Pictures, sources: dict[str, str]) -> str:
    """The text with its pictures beside it. Those that came before are not fetched again."""
    wanted = pictures_in(text)
    came = await pictures.fetch(url for url in wanted if url not in pictures.names)
    with _disk():
        for picture in came.values():
            _keep(folder, picture)
    places = {url: f"{IMAGES}/{pictures.names[url]}" for url in wanted if url in pictures.names}
    for url, place in places.items():
        sources.setdefault(place, url)
    return moved(text, places)


def _keep(folder: Path, picture: Picture) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / picture.name).exists():
        put(folder / picture.name, picture.data)


def put(path: Path, data: bytes) -> bool:
    """The file with these bytes, whole or not at all; whether anything had to be written."""
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
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"The files cannot be written: {error.strerror or 'the disk failed'}.") from None


@contextmanager
def _whole(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    """A file that takes its place when it is complete; a stream as it is."""
    if not isinstance(out, Path):
        yield out
        return
    draft = out.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with _disk():
            out.parent.mkdir(parents=True, exist_ok=True)
            stream = draft.open("wb")
        with stream:
            yield cast("BinaryIO", stream)
        with _disk():
            os.replace(draft, out)
    finally:
        draft.unlink(missing_ok=True)
