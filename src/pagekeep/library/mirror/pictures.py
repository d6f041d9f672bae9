"""Kept pictures in the mirror's folder: the files show the copies in `images/`, the library has the web addresses."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.library.exports.pictures import ENDINGS, PICTURE_FOLDER, PICTURE_SOURCES
from pagekeep.library.mirror import renaming
from pagekeep.library.pictures.addresses import normal_source, replace_picture_urls
from pagekeep.library.pictures.kept import list_pictures
from pagekeep.model import ItemBlob
from pagekeep.store import Store
from pagekeep.store.storable import url_hash

_LOCAL: Final = re.compile(r"(?:\.{1,2}/)*(images/[0-9a-f]{16}-[0-9a-f]{8}\.[a-z]{3,4})")
_MAX_SOURCES_BYTES: Final = 200_000_000


def show_copies(store: Store, folder: Path, item_id: str, path: str, text: str) -> str:
    """Return the text of a file at `path` with the kept pictures in place of their web addresses, and write these pictures."""
    kept = {link.source: link for link in list_pictures(store, item_id) if link.hash and link.media_type in ENDINGS}
    if not kept:
        return text
    used: dict[str, str] = {}
    up = "../" * path.count("/")

    def replace(url: str) -> str | None:
        link = kept.get(normal_source(url))
        if link is None:
            return None
        name = f"{PICTURE_FOLDER}/{_name(link, url)}"
        if name not in used and not _write(store, folder / name, link):
            return None
        used[name] = url
        return f"{up}{name}"

    text = replace_picture_urls(text, lambda url: replace(url) or url)
    _note_sources(folder, used)
    return text


def show_addresses(folder: Path, text: str) -> str:
    """Return the text of a file with web addresses in place of the pictures that the mirror wrote."""
    if f"{PICTURE_FOLDER}/" not in text:
        return text
    sources = _sources(folder)

    def replace(url: str) -> str:
        local = _LOCAL.fullmatch(url)
        return sources.get(local[1], url) if local else url

    return replace_picture_urls(text, replace)


def _name(link: ItemBlob, url: str) -> str:
    """Return a file name that no other content and no other address has, so that the address is known from it."""
    return f"{str(link.hash)[:16]}-{url_hash(url)[:8]}{ENDINGS[link.media_type]}"


def _write(store: Store, path: Path, link: ItemBlob) -> bool:
    """Write a picture unless it is there; return False when the library has lost it."""
    if path.is_file():
        return True
    try:
        data = store.blob(str(link.hash))
    except (NotFound, StoreError):
        return False
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(data)
    try:
        if not renaming.move_to_free_name(draft, path):
            os.replace(draft, path)
    except FileExistsError:  # put there meanwhile
        draft.unlink()
    return True


def _note_sources(folder: Path, used: dict[str, str]) -> None:
    """Add the addresses of pictures to the list in the folder, before a file refers to them."""
    known = _sources(folder)
    if used.items() <= known.items():
        return
    path = folder / PICTURE_SOURCES
    draft = path.with_name(".sources.part")
    draft.write_text(json.dumps({**known, **used}, indent=1, sort_keys=True) + "\n", "utf-8")
    os.replace(draft, path)


def _sources(folder: Path) -> dict[str, str]:
    path = folder / PICTURE_SOURCES
    try:
        about = path.stat()
    except OSError:
        return {}
    return _read_sources(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=4)
def _read_sources(path: Path, _changed: int, size: int) -> dict[str, str]:
    if size > _MAX_SOURCES_BYTES:
        return {}
    try:
        sources = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(url) for name, url in sources.items()} if isinstance(sources, dict) else {}
