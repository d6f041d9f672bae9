"""What an export holds: items in batches with what is written beside them, and their pictures, kept or fetched."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from pagekeep.capture.pictures import SVG_TYPE
from pagekeep.errors import PagekeepError
from pagekeep.library.archive.keep_pictures import MAX_PICTURE_BYTES
from pagekeep.library.archive.pictures import KeptPicture, find_picture
from pagekeep.model import Annotation, Item
from pagekeep.model.reading import ReadingState
from pagekeep.store import Store
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.fetch.client import Client


_BATCH: Final = 100
"""Items whose annotations and reading states are read at a time: as many as the store looks up in one statement."""


@dataclass(frozen=True, slots=True)
class SelectedItem:
    """An item to export."""

    item: Item
    annotations: Sequence[Annotation]
    """Oldest first."""
    reading: ReadingState | None
    """`None` for an item that was never opened."""


def with_annotations(store: Store, items: Iterable[Item]) -> Iterator[SelectedItem]:
    """Yield items, in their order, with their annotations and how far they have been read."""
    source = iter(items)
    while batch := list(islice(source, _BATCH)):
        ids = [item.id for item in batch]
        annotations, states = store.annotations.of_items(ids), store.reading.get_many(ids)
        for item in batch:
            yield SelectedItem(item, annotations.get(item.id, ()), states.get(item.id))


PICTURE_FOLDER: Final = "images"
PICTURE_SOURCES: Final = f"{PICTURE_FOLDER}/sources.json"
"""In a folder of Markdown files: the original address of each picture."""
_PARALLEL_DOWNLOADS: Final = 8
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif;q=0.9,*/*;q=0.1"
ENDINGS: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
    "image/bmp": ".bmp",
    "image/x-icon": ".ico",
    SVG_TYPE: ".svg",
}
"""Media type to file ending. A drawing (SVG) was made harmless when it was kept; others are not fetched for an export."""
_FIRST_BYTES: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"....ftypavi[fs]", re.DOTALL), "image/avif"),
)
"""First bytes and media type of fetched pictures. The server's own type is ignored."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture."""

    name: str
    """A file name, the same for the same bytes."""
    media_type: str
    data: bytes


class PictureFetcher:
    """Gets pictures from the library, else from the web if there is a client; remembers which it had and which failed."""

    def __init__(self, store: Store, client: Client | None) -> None:
        self._store = store
        self._client = client
        self._slots = asyncio.Semaphore(_PARALLEL_DOWNLOADS)
        self.names: dict[str, str] = {}
        """File names of pictures, by address."""
        self.failed: dict[str, str] = {}
        """Reasons of failed ones, by address."""

    async def fetch(self, urls: Iterable[str]) -> dict[str, Picture]:
        """Return the pictures at these addresses, by address, without those that fail."""
        pending = [url for url in dict.fromkeys(urls) if url not in self.failed]
        pictures = await asyncio.gather(*(self._get(url) for url in pending))
        return {url: picture for url, picture in zip(pending, pictures, strict=True) if picture is not None}

    async def _get(self, url: str) -> Picture | None:
        async with self._slots:
            kept = await asyncio.to_thread(find_picture, self._store, url)
            if kept is None and self._client is not None:
                kept = await self._download(url, self._client)
        if kept is None or kept.media_type not in ENDINGS:
            return None
        name = hashlib.sha256(kept.data).hexdigest()[:32] + ENDINGS[kept.media_type]
        self.names[url] = name
        return Picture(name, kept.media_type, kept.data)

    async def _download(self, url: str, client: Client) -> KeptPicture | None:
        try:
            data = (await client.download(url, accept=_ACCEPT, max_bytes=MAX_PICTURE_BYTES)).body
        except PagekeepError as error:
            self.failed[url] = error.message
            return None
        media_type = next((media_type for begin, media_type in _FIRST_BYTES if begin.match(data)), None)
        if media_type is None:
            self.failed[url] = "It is not a PNG, JPEG, GIF, WebP or AVIF picture."
            return None
        return KeptPicture(media_type, data)
