"""A book as one page for each chapter: each has the book's file, and its address with the number of the chapter."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import UnsupportedContent
from pagekeep.model import Fetched
from pagekeep.values import dataclass
from pagekeep.workers import DOCUMENT


@dataclass(frozen=True, slots=True)
class CountChapters:
    """Count the chapters of a book, in a worker process."""

    data: bytes

    def run(self) -> int:
        """Return how many there are; raise `UnsupportedContent` for a file that is not a book that can be read."""
        from pagekeep.capture.documents.epub.book import read_book
        from pagekeep.capture.documents.refusals import UnreadableFile

        file_type = detect(self.data)
        if file_type is None or file_type.module != "epub":
            raise UnsupportedContent("Only a book (EPUB) has chapters.", suggestions=("Read it as a whole.",))
        try:
            return len(read_book(self.data).chapters)
        except UnreadableFile:  # one page says why
            return 0


def chapter_urls(url: str, count: int) -> list[str]:
    """Return the addresses of the chapters of a book; of one without any, its own."""
    base = url.partition("#")[0]
    return [f"{base}#/{number}" for number in range(1, count + 1)] or [url]


async def split_book(book: Fetched, retrieval: Retrieval) -> list[Fetched]:
    """Return a book that was fetched or uploaded as its chapters."""
    count = await retrieval.run(CountChapters(book.body), DOCUMENT)
    return [replace(book, url=url, final_url=url) for url in chapter_urls(book.url, count)]
