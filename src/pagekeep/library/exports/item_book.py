"""One item, or a list as a periodical, as an EPUB for e-readers, with small pictures and a cover; made in a worker."""

from __future__ import annotations

import hashlib
import io
from asyncio import to_thread
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from zipfile import ZipFile

from pagekeep.capture.pictures import SVG_TYPE, Copy, Refused, decode_picture
from pagekeep.errors import NotFound, PagekeepError, TooManyRequests
from pagekeep.library.archive.pictures import KeptPicture, find_picture, hero_source
from pagekeep.library.exports.article_html import picture_urls
from pagekeep.library.exports.epub import Book, add_chapter
from pagekeep.library.exports.selection import ENDINGS, Picture
from pagekeep.library.items.annotations import annotations_of
from pagekeep.model import Annotation, Item
from pagekeep.store import Store
from pagekeep.workers import TEXT, Limits, Room

if TYPE_CHECKING:
    from PIL.Image import Image

BOOK: Final = Limits(
    cpu_seconds=30.0, wall_seconds=60.0, megabytes=1_500, input_bytes=60_000_000, result_bytes=60_000_000
)
"""For one book: an article of 10,000 words with 20 pictures takes about a second."""
MAX_SIZE: Final = (1_264, 1_680)
"""Pixels of a picture: the screen of a usual e-reader."""
MAX_PICTURE_BYTES: Final = 400_000
"""A picture no larger than this, in bytes and pixels, is left as it is."""
MAX_PICTURES: Final = 200
MAX_TOTAL_BYTES: Final = 50_000_000
"""Pictures that are given to the worker; the others become links."""
MAX_ITEMS: Final = 100
"""Items of a periodical."""
_QUALITY: Final = 75
_AS_IS: Final = frozenset({"image/png", "image/jpeg", "image/gif"})
_COVER_SIZE: Final = (1_072, 1_448)


@dataclass(frozen=True, slots=True)
class BookTask:
    """Make a book."""

    chapters: tuple[tuple[Item, tuple[Annotation, ...]], ...]
    pictures: Mapping[str, KeptPicture]
    """By address, as they are in the library."""
    title: str | None = None
    cover_url: str | None = None
    """The picture that is the cover; of a periodical, one is drawn."""
    cover_lines: tuple[str, ...] = ()
    """What is written on a drawn cover, under the title."""

    def run(self) -> bytes:
        """Return the file."""
        out = io.BytesIO()
        shrunk = {url: _shrink(picture) for url, picture in self.pictures.items()}
        pictures = {url: picture for url, picture in shrunk.items() if picture is not None}
        with ZipFile(out, "w") as zipped:
            book = Book(zipped, title=self.title)
            book.begin()
            cover = pictures.get(self.cover_url or "")
            if self.title is not None:
                cover = _named("image/jpeg", _draw_cover(self.title, self.cover_lines, len(self.chapters)))
            if cover is not None:
                book.add_picture(cover)
                book.cover = cover.name
            for item, annotations in self.chapters:
                urls = set(picture_urls(item))
                add_chapter(book, item, annotations, {url: one for url, one in pictures.items() if url in urls})
            if len(self.chapters) == 1 and self.title is None:
                item = self.chapters[0][0]
                book.creator = item.author or item.metadata.site_name or item.domain or book.creator
            book.finish()
        return out.getvalue()


async def build_item_book(store: Store, item: Item, room: Room) -> bytes:
    """Return one item as a book, with the kept copies of its pictures, downscaled."""
    return await _build(store, (item,), room)


async def build_periodical(store: Store, items: Sequence[Item], title: str, room: Room) -> bytes:
    """Return items as one book with a cover and a table of contents; `NotFound` without items."""
    if not items:
        raise NotFound("There are no items for a book.")
    return await _build(store, tuple(items[:MAX_ITEMS]), room, title)


async def _build(store: Store, items: tuple[Item, ...], room: Room, title: str | None = None) -> bytes:
    task = await to_thread(collect_book, store, items, title)
    try:
        return await room.run(task, BOOK)
    except TooManyRequests:
        raise
    except PagekeepError:  # a picture that takes too long, or ends the worker: the text alone is better than nothing
        if not task.pictures:
            raise
    return await room.run(BookTask(task.chapters, {}, task.title, None, task.cover_lines), BOOK)


@dataclass(slots=True)
class _Collection:
    pictures: dict[str, KeptPicture] = field(default_factory=dict)
    left: int = MAX_TOTAL_BYTES

    def add(self, store: Store, url: str) -> None:
        if url in self.pictures or len(self.pictures) >= MAX_PICTURES:
            return
        kept = find_picture(store, url)
        if kept is not None and len(kept.data) <= self.left and kept.media_type in ENDINGS:
            self.pictures[url] = kept
            self.left -= len(kept.data)


def collect_book(store: Store, items: tuple[Item, ...], title: str | None) -> BookTask:
    """Return the task of making a book of items, with all that it needs from the library."""
    collection = _Collection()
    cover_url = hero_source(items[0]) if title is None else None
    if cover_url:
        collection.add(store, cover_url)
    for item in items:
        for url in picture_urls(item):
            collection.add(store, url)
    marks = annotations_of(store, items)
    chapters = tuple((item, marks.get(item.id, ())) for item in items)
    lines = tuple(" ".join(item.title.split()) for item in items[:8])
    return BookTask(chapters, collection.pictures, title, cover_url, lines)


def _shrink(picture: KeptPicture) -> Picture | None:
    """Return the picture no larger than the screen of an e-reader; `None` for one that cannot be decoded."""
    if picture.media_type == SVG_TYPE:
        return _named(picture.media_type, picture.data) if len(picture.data) <= MAX_PICTURE_BYTES else None
    result = decode_picture(picture.data, _shrinker(picture))
    return None if isinstance(result, Refused) else _named(result.media_type, result.body)


def _shrinker(picture: KeptPicture) -> Callable[[Image], Copy]:
    def shrink(decoded: Image) -> Copy:
        from PIL import ImageOps

        width, height = decoded.size
        is_small = width <= MAX_SIZE[0] and height <= MAX_SIZE[1] and len(picture.data) <= MAX_PICTURE_BYTES
        if is_small and picture.media_type in _AS_IS:
            decoded.load()  # a damaged one would stop some devices
            return Copy(picture.media_type, width, height, picture.data)
        decoded.draft("RGB", MAX_SIZE)  # a JPEG is decoded at a half or a quarter of its size
        small = ImageOps.exif_transpose(decoded)
        small.thumbnail(MAX_SIZE)
        if small.mode in ("RGBA", "LA", "PA") or "transparency" in small.info:
            from PIL import Image

            small = small.convert("RGBA")
            paper = Image.new("RGB", small.size, "white")
            paper.paste(small, mask=small.getchannel("A"))
            small = paper
        out = io.BytesIO()
        small.convert("RGB").save(out, "JPEG", quality=_QUALITY)
        return Copy("image/jpeg", small.width, small.height, out.getvalue())

    return shrink


def _draw_cover(title: str, lines: tuple[str, ...], pages: int | None) -> bytes:
    """Return a plain cover with a title, and lines under it."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = _COVER_SIZE
    paper = Image.new("L", _COVER_SIZE, 255)
    draw = ImageDraw.Draw(paper)
    large, small = ImageFont.load_default(72), ImageFont.load_default(38)
    draw.rectangle((40, 40, width - 40, height - 40), outline=0, width=6)
    words, top = " ".join(title.split()), 140
    for _ in range(1 if pages is not None else 5):  # a long title of one page takes several lines
        line = _fit(draw, words, large, width - 200)
        draw.text((100, top), line, fill=0, font=large)
        words, top = words[len(line.removesuffix("…")) :].strip(), top + 100
        if not words:
            break
    draw.line((100, top + 20, width - 100, top + 20), fill=0, width=4)
    for at, line in enumerate(lines):
        draw.text((100, top + 90 + at * 110), _fit(draw, line, small, width - 200), fill=40, font=small)
    if pages is not None:
        draw.text((100, height - 140), f"{pages} pages", fill=0, font=small)
    out = io.BytesIO()
    paper.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class CoverTask:
    """Draw the cover of a page without a picture, or of a list."""

    title: str
    lines: tuple[str, ...]

    def run(self) -> bytes:
        """Return the JPEG."""
        return _draw_cover(self.title, self.lines, None)


async def draw_cover(title: str, lines: tuple[str, ...], room: Room) -> bytes:
    """Return a drawn cover as JPEG."""
    return await room.run(CoverTask(title[:300], lines), TEXT)


def _fit(draw: object, text: str, font: object, width: int) -> str:
    """Return as much of the text as fits into a line."""
    shown = text[:200]
    while shown and draw.textlength(shown if shown == text else f"{shown}…", font=font) > width:  # type: ignore[attr-defined]
        shown = shown[:-1]
    return shown if shown == text else f"{shown.rstrip()}…"


def _named(media_type: str, data: bytes) -> Picture:
    return Picture(hashlib.sha256(data).hexdigest()[:32] + ENDINGS[media_type], media_type, data)
