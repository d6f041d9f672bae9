"""Put the content of frames into the page that contains them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.capture.extract import document_type, is_text
from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.joined_file import Parts, is_joined, pack, unpack
from pagekeep.errors import PagekeepError
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.decode import decode
from pagekeep.extraction.input.urls import make_resolver
from pagekeep.model import Fetched, Options

MAX_FRAMES: Final = 5
"""Frames fetched per page."""


async def inline_frames(fetched: Fetched, retrieval: Retrieval, seconds: float | None = None) -> Fetched:
    """Return the page with the content of its frames in their places; frames that cannot be fetched stay."""
    if is_text(fetched) or document_type(fetched):
        return fetched
    if is_joined(fetched):
        pages = await retrieval.run(_Unpack(fetched.body))
        filled = [replace(part, fetched=await inline_frames(part.fetched, retrieval, seconds)) for part in pages.parts]
        return pack(replace(pages, parts=tuple(filled)))
    options = Options(max_bytes=retrieval.settings.max_bytes)
    frames = await retrieval.run(_FindFrames(fetched, options))
    contents = await asyncio.gather(*(_fetch_frame(frame, retrieval, seconds) for frame in frames))
    return await retrieval.run(_FillFrames(fetched, tuple(contents), options)) if any(contents) else fetched


@dataclass(frozen=True, slots=True)
class _Unpack:
    body: bytes

    def run(self) -> Parts:
        """Return the pages of an article."""
        return unpack(self.body)


class _Frame(NamedTuple):
    url: str | None
    html: str | None
    """The content, if the page itself contains it."""


async def _fetch_frame(frame: _Frame, retrieval: Retrieval, seconds: float | None) -> Fetched | str | None:
    """Return the content of a frame, or `None`."""
    if frame.html or not frame.url:
        return frame.html
    try:
        fetched = await retrieval.client.fetch(frame.url, deadline=seconds)
    except PagekeepError:
        return None
    return None if document_type(fetched) else fetched


@dataclass(frozen=True, slots=True)
class _FindFrames:
    fetched: Fetched
    options: Options

    def run(self) -> list[_Frame]:
        """Return the first frames of the page."""
        document = _parse(self.fetched, self.options)
        resolve = make_resolver(urls.base(document, self.fetched.final_url or None))
        frames = map(dom.attributes, _frames(document))
        return [_Frame(_web_url(resolve(frame.get("src", ""))), frame.get("srcdoc") or None) for frame in frames]


@dataclass(frozen=True, slots=True)
class _FillFrames:
    fetched: Fetched
    contents: tuple[Fetched | str | None, ...]
    """The content of each of the first frames, in order; `None` leaves a frame as it is."""
    options: Options

    def run(self) -> Fetched:
        """Return the page with the contents in place of its frames, or as it was if it would be too large."""
        document = _parse(self.fetched, self.options)
        for frame, content in zip(_frames(document), self.contents, strict=False):
            self._fill(frame, content)
        body = dom.html_of(document).encode("utf-8", "replace")
        return (
            replace(self.fetched, body=body, encoding="utf-8") if len(body) <= self.options.max_bytes else self.fetched
        )

    def _fill(self, frame: dom.Element, content: Fetched | str | None) -> None:
        if not content:
            return
        try:
            inner = dom.parse(content) if isinstance(content, str) else _parse(content, self.options)
        except PagekeepError:
            return
        body = dom.first(inner, "body")
        if body:
            dom.replace(frame, dom.parse_fragment(dom.inner_html(body)))


def _parse(fetched: Fetched, options: Options) -> dom.Document:
    return dom.parse(decode(fetched.body, replace(options, encoding=fetched.encoding))[0])


def _frames(document: dom.Document) -> list[dom.Element]:
    return list(dom.tagged(document, ("iframe",))[:MAX_FRAMES])


def _web_url(url: str | None) -> str | None:
    return url if url and url.startswith(("http://", "https://")) else None
