"""EPUB 2 and 3: a book as one document with chapters."""

from __future__ import annotations

from pagekeep.capture.documents.epub.book import read_book
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.documents.parts.about import make_metadata
from pagekeep.capture.documents.refusals import EmptyFile
from pagekeep.model import Options
from pagekeep.text import number_of


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the book in an EPUB file."""
    book = read_book(data)
    first = next((chapter.title for chapter in book.chapters if chapter.title), "")
    metadata = make_metadata(book.package.declared, first, "")
    if not any(chapter.words for chapter in book.chapters):
        raise EmptyFile(metadata=metadata)
    return ParsedDocument(
        book.html,
        metadata,
        f"a book of {number_of(len(book.chapters), 'chapter')}, read in its own order",
        tuple(book.dropped.removals()),
        tuple(book.dropped.warnings()),
    )
