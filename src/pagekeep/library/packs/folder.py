"""A pack as a folder: one Markdown file per page, `llms.txt` as its contents, and `pack.json` with the hash of every file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pagekeep.errors import Conflict, NotFound, ParseError, StoreError
from pagekeep.library.packs.links import file_targets, rewrite_links
from pagekeep.library.packs.llms import write_llms
from pagekeep.library.packs.pack import PackPage
from pagekeep.markdown.frontmatter import stamp, write_frontmatter
from pagekeep.text import strip_markdown

MANIFEST: Final = "pack.json"
CONTENTS: Final = "llms.txt"
VERSION: Final = 1
_MAX_MANIFEST_BYTES: Final = 200_000_000
_FIELDS: Final = {
    "author": "author",
    "published": "published_date",
    "language": "language",
    "description": "description",
}
"""Metadata of a page, with the names of the fields in its file."""


@dataclass(frozen=True, slots=True)
class PackFile:
    """A page in the manifest of a pack."""

    path: str
    url: str
    title: str
    level: int
    section: tuple[str, ...]
    sha256: str
    """Of the file."""
    text_sha256: str
    """Of the words alone: the same where only links changed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a pack."""

    title: str
    url: str
    summary: str
    files: tuple[PackFile, ...]


def write_folder(title: str, url: str, summary: str, pages: Sequence[PackPage], folder: Path) -> int:
    """Write the pack; return how many pages. Files of an older pack in the folder are updated, or deleted if unchanged.

    Raises `Conflict` for a folder with something else in it. After a writer was killed, the next one completes the folder.
    """
    before = _read_older(folder)
    targets = file_targets(list(pages))
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / MANIFEST, _dump(Manifest(title, url, summary, before)))  # from here on it is a pack
        for one in pages:
            data = _page_text(one, targets).encode("utf-8", "replace")
            _write(folder / one.path, data)
            digest = hashlib.sha256(data).hexdigest()
            words = hashlib.sha256(strip_markdown(one.page.markdown).encode("utf-8", "replace")).hexdigest()
            files.append(PackFile(one.path, one.url, one.title, one.level, one.section, digest, words))
        _write(folder / CONTENTS, "".join(write_llms(title, summary, pages, links=False)).encode("utf-8", "replace"))
        _remove_old(folder, before, {file.path for file in files})
        _write(folder / MANIFEST, _dump(Manifest(title, url, summary, tuple(files))))
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be written: {error.strerror or 'disk error'}.",
            suggestions=("Check the path and the free disk space.",),
        ) from error
    return len(files)


def read_manifest(folder: Path) -> Manifest:
    """Return what is in a pack; `NotFound` for a folder that is none, `ParseError` for a damaged one."""
    file = folder / MANIFEST
    if not file.is_file():
        raise NotFound(f"{folder} is not a pack: it has no {MANIFEST}.", suggestions=("Write one with a crawl first.",))
    try:
        if file.stat().st_size > _MAX_MANIFEST_BYTES:
            raise ValueError
        stored = json.loads(file.read_bytes())
        files = tuple(_read_file(entry) for entry in stored["pages"])
        return Manifest(str(stored["title"]), str(stored["url"]), str(stored.get("summary", "")), files)
    except (ValueError, KeyError, TypeError, OSError):
        raise ParseError(f"{file} is damaged.", suggestions=("Write the pack again.",)) from None


def read_file(folder: Path, file: PackFile) -> str:
    """Return the text of a page of a pack; `NotFound` when its file is gone."""
    try:
        return (folder / file.path).read_text("utf-8", "replace")
    except OSError:
        raise NotFound(f"{folder / file.path} is missing.", suggestions=("Write the pack again.",)) from None


def _read_file(entry: dict[str, Any]) -> PackFile:
    path = PurePosixPath(str(entry["path"]))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("a path outside the pack")
    section = tuple(str(title) for title in entry.get("section", ()))
    url, title, level = str(entry["url"]), str(entry["title"]), int(entry.get("level", 0))
    return PackFile(str(path), url, title, level, section, str(entry["sha256"]), str(entry["text_sha256"]))


def _read_older(folder: Path) -> tuple[PackFile, ...]:
    """Return the files of the pack that is in the folder now."""
    if (folder / MANIFEST).is_file():
        return read_manifest(folder).files
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(
            f"{folder} exists and is not a pack.", suggestions=("Name a new folder, or one with an older pack.",)
        )
    return ()


def _page_text(one: PackPage, targets: dict[str, str]) -> str:
    about = one.page.metadata
    fields: dict[str, Any] = {"source": one.url, "title": one.title}
    fields |= {name: about.get(key) for key, name in _FIELDS.items()}
    if fields["published_date"]:
        fields["published_date"] = stamp(str(fields["published_date"])[:10])
    body = rewrite_links(one.page.markdown, one.path, targets).strip("\n")
    return f"{write_frontmatter(fields).rstrip()}\n\n{body}\n"


def _dump(manifest: Manifest) -> bytes:
    pages = [
        {
            "path": file.path,
            "url": file.url,
            "title": file.title,
            "level": file.level,
            "section": list(file.section),
            "sha256": file.sha256,
            "text_sha256": file.text_sha256,
        }
        for file in manifest.files
    ]
    head = {"pack": VERSION, "title": manifest.title, "url": manifest.url, "summary": manifest.summary}
    return (json.dumps({**head, "pages": pages}, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _write(path: Path, data: bytes) -> None:
    """Write a file at once, unless it has these bytes already."""
    with suppress(OSError):
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:80]}.{os.getpid()}.part")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _remove_old(folder: Path, before: Sequence[PackFile], kept: set[str]) -> None:
    """Delete files of the older pack that the new one does not have, unless they were edited, and empty folders."""
    for file in before:
        path = folder / file.path
        if file.path in kept or not path.is_file():
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256:
            path.unlink()
            with suppress(OSError):  # others are in it
                for parent in path.relative_to(folder).parents[:-1]:
                    (folder / parent).rmdir()
