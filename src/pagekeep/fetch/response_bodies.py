"""Read the body of a response within limits, or skip one that is not needed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import httpcore

from pagekeep.errors import TooLarge
from pagekeep.fetch.decoders import Body
from pagekeep.fetch.headers import Headers

MAX_DRAIN_BYTES: Final = 16_384
"""A body that is not needed is read to its end up to this size, which is cheaper than a new connection."""
CHUNKS_PER_YIELD: Final = 256
"""Chunks read before other fetches may run. Without it, a flood of one-byte chunks delayed them by 1.6 s."""


@dataclass(slots=True)
class Response:
    """The status and headers of a response whose body is not read yet."""

    status: int
    headers: Headers
    raw: httpcore.Response

    @property
    def length(self) -> int | None:
        """The announced length of the body, in bytes as sent."""
        text = self.headers.fields.get("content-length", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    async def drain(self) -> None:
        """Read a short body that is not needed, so that the connection can be used again."""
        length = self.length
        if length is not None and length <= MAX_DRAIN_BYTES:
            async for _ in self.raw.aiter_stream():
                pass

    async def read(self, limit: int) -> bytes:
        """Return the decoded body; raise `TooLarge` as soon as more than the limit is announced or arrives."""
        body = Body(self.headers.fields.get("content-encoding", ""), limit)
        if (self.length or 0) > limit:
            raise TooLarge(f"The page is larger than the limit of {limit / 1e6:g} MB.")
        chunks = 0
        async for chunk in self.raw.aiter_stream():
            body.feed(chunk)
            chunks += 1
            if chunks % CHUNKS_PER_YIELD == 0:
                await asyncio.sleep(0)
        return body.content()
