"""A picture from its address: off the shelf, or through the guard like everything else that is fetched."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from pagekeep.doors.http.image_proxy.cache import Shelf
from pagekeep.doors.http.image_proxy.formats import checked_kind
from pagekeep.errors import PagekeepError, TooLarge

if TYPE_CHECKING:
    from pagekeep.fetch.client import Client

MOST_BYTES: Final = 20_000_000
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.5"
_AT_A_TIME: Final = 24
"""Each may take 20 MB."""


class Picture(NamedTuple):
    """Its media type, by what it is, and its bytes."""

    kind: str
    data: bytes


@dataclass(slots=True)
class Pictures:
    """Fetches pictures and keeps them."""

    client: Client
    shelf: Shelf
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_A_TIME))

    async def get(self, key: str, url: str) -> Picture:
        """The picture; an error of fetching, `UnsupportedContent` or `TooLarge` when it is none that may be shown."""
        kept = await asyncio.to_thread(self._kept, key)
        if kept is not None:
            return kept
        async with self._turns:
            picture = await self._fetched(url)
        await asyncio.to_thread(self.shelf.keep, key, picture.data)
        return picture

    def _kept(self, key: str) -> Picture | None:
        data = self.shelf.find(key)
        if data is None:
            return None
        try:
            return Picture(checked_kind(data), data)
        except PagekeepError:  # the file is not what was kept
            self.shelf.drop(key)
            return None

    async def _fetched(self, url: str) -> Picture:
        try:
            data = (await self.client.download(url, accept=_ACCEPT, max_bytes=MOST_BYTES)).body
        except TooLarge:
            raise TooLarge(f"The picture is larger than {MOST_BYTES // 1_000_000} MB.", suggestions=()) from None
        return Picture(checked_kind(data), data)
