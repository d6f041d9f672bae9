"""Search a pack by section: an index in memory, made when the pack is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.library.packs.folder import Manifest, PackFile, read_file, read_manifest
from pagekeep.markdown.frontmatter import split_block
from pagekeep.present.sections import outline
from pagekeep.text import split_words, strip_markdown

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
