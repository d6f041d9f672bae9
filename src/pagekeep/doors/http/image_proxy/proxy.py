"""Fetch images through the address guard, with a cache."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from pagekeep.doors.http.image_proxy.cache import ImageCache
from pagekeep.doors.http.image_proxy.formats import check_image
from pagekeep.errors import PagekeepError, TooLarge

if TYPE_CHECKING:
    from pagekeep.fetch.client import Client

MAX_IMAGE_BYTES: Final = 20_000_000
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.5"
_MAX_FETCHES: Final = 24
"""Images fetched at the same time; each may need 20 MB of memory."""


class Image(NamedTuple):
    """An image and its detected media type."""

    media_type: str
    data: bytes


@dataclass(slots=True)
class ImageProxy:
    """Fetches and caches images."""

    client: Client
    cache: ImageCache
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MAX_FETCHES))

    async def get(self, key: str, url: str) -> Image:
        """Return the image; raise a fetch error, or `UnsupportedContent` or `TooLarge` if it cannot be shown."""
        cached = await asyncio.to_thread(self._find, key)
        if cached is not None:
            return cached
        async with self._slots:
            image = await self._fetch(url)
        await asyncio.to_thread(self.cache.store, key, image.data)
        return image

    def _find(self, key: str) -> Image | None:
        data = self.cache.find(key)
        if data is None:
            return None
        try:
            return Image(check_image(data), data)
        except PagekeepError:  # the file is damaged
            self.cache.remove(key)
            return None

    async def _fetch(self, url: str) -> Image:
        try:
            data = (await self.client.download(url, accept=_ACCEPT, max_bytes=MAX_IMAGE_BYTES)).body
        except TooLarge:
            raise TooLarge(f"The image is larger than {MAX_IMAGE_BYTES // 1_000_000} MB.", suggestions=()) from None
        return Image(check_image(data), data)
