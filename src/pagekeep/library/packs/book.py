"""A pack as a book: an EPUB with the site's navigation as its table of contents, and links between its chapters."""

from __future__ import annotations

import uuid
from typing import BinaryIO
from zipfile import ZipFile

from pagekeep.library.exports.epub import Book, add_chapter
from pagekeep.library.packs.from_crawl import Pack
from pagekeep.library.packs.pack import PackPage, key
from pagekeep.model import Item, ItemMetadata


def write_pack_book(pack: Pack, made_at: str, out: BinaryIO) -> int:
    """Write the book; return how many chapters it has. Pictures stay links."""
    targets = {
        key(url): f"chapter-{number:05}.xhtml"
        for number, one in reversed(list(enumerate(pack.pages, start=1)))
        for url in (one.url, *one.page.aliases)
    }

    def find_chapter(url: str) -> str | None:
        return targets.get(key(url)) if "://" in url else None

    with ZipFile(out, "w") as zipped:
        book = Book(zipped, title=pack.title)
        book.begin()
        for one in pack.pages:
            chapter = _chapter(one, made_at)
            add_chapter(book, chapter, (), {}, headings=one.section, level=one.level, find_chapter=find_chapter)
        book.finish()
    return len(pack.pages)


def _chapter(one: PackPage, made_at: str) -> Item:
    """Return a page as an item, which books are made of."""
    language = one.page.metadata.get("language")
    return Item(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, one.url)),
        user_id="",
        url=one.url,
        url_full=one.url,
        domain=one.url.partition("://")[2].partition("/")[0],
        title=one.title,
        content=one.page.markdown,
        source="web",
        author=one.page.metadata.get("author"),
        saved_at=made_at,
        published_at=None,
        metadata=ItemMetadata(language=language if isinstance(language, str) else None),
        created_at=made_at,
        updated_at=made_at,
    )
