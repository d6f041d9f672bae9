"""A pack as a folder: write it, search it by section, and compare two of the same site."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any, Final, Literal
from urllib.parse import quote

from pagekeep.errors import Conflict, NotFound, ParseError, StoreError
from pagekeep.library.packs.pack import PackPage, key, write_llms
from pagekeep.markdown.frontmatter import split_block, stamp, write_frontmatter
from pagekeep.present.sections import outline
from pagekeep.text import split_words, strip_markdown

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


_FENCE: Final = re.compile(r"[ >]*(`{3,}|~{3,})")
_TARGET: Final = re.compile(r"\]\((<[^<>\n]{1,8000}>|[^\s()<>]{1,8000})")
"""The address of a link as our writer writes it."""


def file_targets(pages: list[PackPage]) -> dict[str, str]:
    """Return the file of each address, under every address that leads to it."""
    return {key(url): one.path for one in reversed(pages) for url in (one.page.url, *one.page.aliases)}


def rewrite_links(markdown: str, here: str, targets: Mapping[str, str]) -> str:
    """Return the Markdown with links to pages of the pack as relative paths; code stays as it is."""
    folder = posixpath.dirname(here) or "."

    def replace(match: re.Match[str]) -> str:
        url = match[1].strip("<>")
        path = targets.get(key(url)) if "://" in url else None
        if path is None:
            return match[0]
        hash_sign, fragment = ("#", url.partition("#")[2]) if "#" in url else ("", "")
        if path == here:
            return f"]({hash_sign}{fragment}" if fragment else f"]({quote(posixpath.basename(here))}"
        return f"]({quote(posixpath.relpath(path, folder))}{hash_sign}{fragment}"

    fence = ""
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened and (not fence or (opened[1][0] == fence[0] and len(opened[1]) >= len(fence))):
            fence = "" if fence else opened[1]
        elif not fence and "](" in line:
            lines[number] = _TARGET.sub(replace, line)
    return "\n".join(lines)


_MAX_PAGES: Final = 50_000
_MAX_PAGE_CHARS: Final = 500_000
"""Characters of a page that are indexed."""
_MAX_WORDS: Final = 20
"""Words of a query."""
_BATCH: Final = 200
"""Pages of one task."""
_SEARCH: Final = (
    "SELECT path, number, section, snippet(sections, 5, '', '', ' ... ', 32) FROM sections WHERE sections MATCH ?"
    " ORDER BY bm25(sections, 0, 0, 0, 4.0, 6.0, 1.0), rowid LIMIT ?"
)
"""Words in the page's title and the section's title count more."""


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section of a page that matches."""

    path: str
    url: str
    title: str
    number: str
    """Of the section in its page; `0` is the text before the first heading."""
    section: str
    snippet: str


Row = tuple[str, str, str, str, str, str]
"""Of the index: path, number and title of a section; titles and text that are searched."""


@dataclass(frozen=True, slots=True)
class SectionsTask:
    """Read the sections of some pages of a pack, in a worker."""

    folder: Path
    files: tuple[PackFile, ...]

    def run(self) -> list[Row]:
        """Return a row for each section, with its own text without that of its subsections."""
        return [row for file in self.files for row in self._rows(file)]

    def _rows(self, file: PackFile) -> list[Row]:
        try:
            text = split_block(read_file(self.folder, file))[1][:_MAX_PAGE_CHARS]
        except NotFound:  # the file was deleted
            return []
        sections = outline(text)
        ends = [*[one.start for one in sections][1:], len(text)]
        return [
            (file.path, one.number, one.title, file.title, one.title, strip_markdown(text[one.start : end]))
            for one, end in zip(sections, ends, strict=True)
        ] or [(file.path, "0", "", file.title, "", strip_markdown(text))]


class OpenPack:
    """A pack that can be read and, once its sections are indexed, searched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder)
        self._files = {file.path: file for file in self.manifest.files}
        self._by_url = {file.url: file for file in self.manifest.files}
        self._lock = Lock()
        self._index: sqlite3.Connection | None = None

    def find(self, key: str) -> PackFile:
        """Return a page by its path, address or title; `NotFound` when there is none."""
        file = self._files.get(key) or self._by_url.get(key) or self._files.get(f"{key}.md")
        if file is None:
            name = key.strip().casefold()
            file = next((one for one in self.manifest.files if one.title.casefold() == name), None)
        if file is None:
            raise NotFound(f"The pack has no page {key[:200]!r}.", suggestions=("Search it, or list its contents.",))
        return file

    def read(self, file: PackFile) -> str:
        """Return the Markdown of a page, without its frontmatter."""
        return split_block(read_file(self.folder, file))[1]

    def waiting_tasks(self) -> list[SectionsTask]:
        """Return the tasks whose rows must be passed to `index` before a search; none once that was done."""
        if self._index is not None:
            return []
        files = self.manifest.files[:_MAX_PAGES]
        return [SectionsTask(self.folder, files[first : first + _BATCH]) for first in range(0, len(files), _BATCH)]

    def index(self, rows: Iterable[Row]) -> None:
        """Make the index of all sections."""
        index = sqlite3.connect(":memory:", check_same_thread=False)
        index.execute(
            "CREATE VIRTUAL TABLE sections USING fts5(path UNINDEXED, number UNINDEXED, section UNINDEXED,"
            " page_title, section_title, body, tokenize = 'unicode61 remove_diacritics 2')"
        )
        index.executemany("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._index = index

    def search(self, query: str, limit: int) -> list[FoundSection]:
        """Return the sections that have all words, best match first; without such, those that have some."""
        words = split_words(query)[:_MAX_WORDS]
        if not words or self._index is None:
            return []
        rows: list[tuple[str, str, str, str]] = []
        for joint in (" AND ", " OR "):
            terms = joint.join('"' + word.replace('"', '""') + '"' for word in words)
            with self._lock:
                rows = self._index.execute(_SEARCH, (terms, limit)).fetchall()
            if rows:
                break
        return [self._found(*row) for row in rows]

    def _found(self, path: str, number: str, section: str, snippet: str) -> FoundSection:
        file = self._files[path]
        return FoundSection(path, file.url, file.title, number, section, snippet)


Change = Literal["added", "removed", "moved", "changed"]


@dataclass(frozen=True, slots=True)
class PageChange:
    """What happened to a page from one pack to the other."""

    change: Change
    path: str
    """In the newer pack; of a removed page, in the older one."""
    title: str
    url: str
    old_path: str | None = None
    """Of a moved page."""
    lines: tuple[str, ...] = ()
    """Of a changed page: the difference of the texts."""


def compare_packs(older: Path, newer: Path, difference: Callable[[str, str], tuple[str, ...]]) -> Iterator[PageChange]:
    """Yield the changes, in the order of the newer pack, removed pages last.

    Pages are the same by path or address, or by text if they moved. `difference` compares two texts. Changes of links
    alone do not count.
    """
    before, after = read_manifest(older), read_manifest(newer)
    by_path = {file.path: file for file in before.files}
    by_url = {key(file.url): file for file in before.files}
    by_text = {file.text_sha256: file for file in before.files}
    matched: set[str] = set()
    added: list[PackFile] = []
    for file in after.files:
        old = by_path.get(file.path) or by_url.get(key(file.url))
        if old is None:
            added.append(file)
            continue
        matched.add(old.path)
        if old.text_sha256 != file.text_sha256:
            lines = difference(_text(older, old), _text(newer, file))
            if lines:
                yield PageChange("changed", file.path, file.title, file.url, lines=lines)
    for file in added:
        old = by_text.get(file.text_sha256)
        if old is not None and old.path not in matched:
            matched.add(old.path)
            yield PageChange("moved", file.path, file.title, file.url, old_path=old.path)
        else:
            yield PageChange("added", file.path, file.title, file.url)
    for file in before.files:
        if file.path not in matched:
            yield PageChange("removed", file.path, file.title, file.url)


def _text(folder: Path, file: PackFile) -> str:
    """Return the text of a page without its frontmatter: a new address does not change the text."""
    from pagekeep.markdown.frontmatter import split_block

    return split_block(read_file(folder, file))[1]
