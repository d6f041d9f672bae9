"""EPUB 2 and 3: a book as one document with chapters, or one chapter of it.

The address of a chapter is that of its book with `#/` and a number: `https://example.com/book.epub#/3`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from pagekeep.capture.documents.epub.book import Book, read_book
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.documents.parts.about import make_metadata
from pagekeep.capture.documents.refusals import DamagedFile, EmptyFile
from pagekeep.model import Metadata, Options
from pagekeep.text import number_of

_CHAPTER: Final = re.compile(r"(.*)#/(\d{1,5})")


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the book in an EPUB file, or the chapter that the address names."""
    book = read_book(data)
    first = next((chapter.title for chapter in book.chapters if chapter.title), "")
    metadata = make_metadata(book.package.declared, first, "")
    if not book.chapters:
        raise EmptyFile(metadata=metadata)
    chapter = _CHAPTER.fullmatch(url or "")
    html, how = book.write() if not chapter else "", f"a book of {number_of(len(book.chapters), 'chapter')}"
    if chapter:
        html, metadata = _read_chapter(book, int(chapter[2]), chapter[1], metadata)
        how = f"chapter {chapter[2]} of {how}"
    removals, warnings = tuple(book.dropped.removals()), tuple(book.dropped.warnings())
    return ParsedDocument(html, metadata, f"{how}, read in its own order", removals, warnings)


def _read_chapter(book: Book, number: int, address: str, metadata: Metadata) -> tuple[str, Metadata]:
    """Return a chapter with its own title; the book is its site."""
    if not 1 <= number <= len(book.chapters):
        raise DamagedFile(f"it has no chapter {number}", metadata)
    title = book.chapters[number - 1].title or metadata.title
    about = replace(metadata, title=title, site_name=metadata.title, description=None)
    return book.write_chapter(number, address), about
