"""Put the content of frames into the page that contains them."""

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

MAX_FRAMES: Final = 5
"""Frames fetched per page."""


async def inline_frames(fetched: Fetched, retrieval: Retrieval, seconds: float | None = None) -> Fetched:
    """Return the page with the content of its frames in their places; frames that cannot be fetched stay."""
    if is_text(fetched):
        return fetched
    options = Options(max_bytes=retrieval.settings.max_bytes)
    document, frames = await asyncio.to_thread(_find_frames, fetched, options)
    contents = await asyncio.gather(*(_fetch_frame(frame, base, retrieval, seconds) for frame, base in frames))
    filled = [(frame, content) for (frame, _), content in zip(frames, contents, strict=True) if content]
    return await asyncio.to_thread(_fill_frames, fetched, document, filled, options) if filled else fetched


def _find_frames(fetched: Fetched, options: Options) -> tuple[dom.Document, list[tuple[dom.Element, str | None]]]:
    source, _ = decode(fetched.body, replace(options, encoding=fetched.encoding))
    document = dom.parse(source)
    base = urls.base(document, fetched.final_url or None)
    return document, [(frame, base) for frame in dom.tagged(document, ("iframe",))[:MAX_FRAMES]]


async def _fetch_frame(frame: dom.Element, base: str | None, retrieval: Retrieval, seconds: float | None) -> str | None:
    """Return the HTML of a frame, or `None`."""
    attributes = dom.attributes(frame)
    if attributes.get("srcdoc"):
        return attributes["srcdoc"]
    url = make_resolver(base)(attributes.get("src", ""))
    if not url or not url.startswith(("http://", "https://")):
        return None
    try:
        inner = await retrieval.client.fetch(url, deadline=seconds)
        return decode(inner.body, Options(encoding=inner.encoding, max_bytes=retrieval.settings.max_bytes))[0]
    except PagekeepError:
        return None


def _fill_frames(
    fetched: Fetched, document: dom.Document, frames: list[tuple[dom.Element, str]], options: Options
) -> Fetched:
    for frame, html in frames:
        body = dom.first(dom.parse(html), "body")
        if body:
            dom.replace(frame, dom.parse_fragment(dom.inner_html(body)))
    body_bytes = dom.html_of(document).encode("utf-8", "replace")
    return replace(fetched, body=body_bytes, encoding="utf-8") if len(body_bytes) <= options.max_bytes else fetched
