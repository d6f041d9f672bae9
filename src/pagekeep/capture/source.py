"""The source of a page as text."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.capture.from_url import Retrieval
from pagekeep.model import Fetched, Options


async def decode_source(fetched: Fetched, retrieval: Retrieval) -> str:
    """Return the page as it was fetched, as text."""
    return await retrieval.run(_DecodeSource(fetched.body, fetched.encoding))


@dataclass(frozen=True, slots=True)
class _DecodeSource:
    body: bytes
    encoding: str | None

    def run(self) -> str:
        """Return the text, in the encoding that the server or the page names."""
        from pagekeep.extraction.input.decode import decode  # it loads the pipeline

        return decode(self.body, Options(encoding=self.encoding, max_bytes=len(self.body)))[0]
