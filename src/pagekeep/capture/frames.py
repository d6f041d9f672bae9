"""Pages within a page: frames put in as parts of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.capture.from_url import Retrieval, is_text
from pagekeep.errors import PagekeepError
from pagekeep.extraction.clean.resolve import make_resolver
from pagekeep.extraction.input import urls
from pagekeep.extraction.input.decode import decode
from pagekeep.model import Fetched, Options

MOST: Final = 5
"""Frames that are fetched for a page."""


async def with_frames(fetched: Fetched, retrieval: Retrieval, seconds: float | None = None) -> Fetched:
    """The page with what its frames show in their places; one that cannot be had is left as it is."""
    if is_text(fetched):
        return fetched
    options = Options(max_bytes=retrieval.settings.max_bytes)
    document, frames = await asyncio.to_thread(_found, fetched, options)
    contents = await asyncio.gather(*(_content(frame, base, retrieval, seconds) for frame, base in frames))
    filled = [(frame, content) for (frame, _), content in zip(frames, contents, strict=True) if content]
    return await asyncio.to_thread(_filled, fetched, document, filled, options) if filled else fetched


def _found(fetched: Fetched, options: Options) -> tuple[dom.Document, list[tuple[dom.Element, str | None]]]:
    source, _ = decode(fetched.body, replace(options, encoding=fetched.encoding))
    document = dom.parse(source)
    base = urls.base(document, fetched.final_url or None)
    return document, [(frame, base) for frame in dom.tagged(document, ("iframe",))[:MOST]]


async def _content(frame: dom.Element, base: str | None, retrieval: Retrieval, seconds: float | None) -> str | None:
    """The HTML of a frame."""
    told = dom.attributes(frame)
    if told.get("srcdoc"):
        return told["srcdoc"]
    address = make_resolver(base)(told.get("src", ""))
    if not address or not address.startswith(("http://", "https://")):
        return None
    try:
        inner = await retrieval.client.fetch(address, deadline=seconds)
        return decode(inner.body, Options(encoding=inner.encoding, max_bytes=retrieval.settings.max_bytes))[0]
    except PagekeepError:
        return None


def _filled(
    fetched: Fetched, document: dom.Document, frames: list[tuple[dom.Element, str]], options: Options
) -> Fetched:
    for frame, html in frames:
        body = dom.first(dom.parse(html), "body")
        if body:
            dom.replace(frame, dom.parse_fragment(dom.inner_html(body)))
    body_bytes = dom.html_of(document).encode("utf-8", "replace")
    return replace(fetched, body=body_bytes, encoding="utf-8") if len(body_bytes) <= options.max_bytes else fetched
