"""Pages of a crawl as documents of Firecrawl."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Collection
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.source import decode_source
from pagekeep.library.build_item import to_fetched
from pagekeep.library.crawl.pages import read_raw
from pagekeep.library.preview import preview_options
from pagekeep.model import MadeField
from pagekeep.model.crawl import CrawledPage
from pagekeep.store import Store

RAW: Final = "rawHtml"
LETTERS: Final = {"markdown": "m", "html": "h", RAW: "r", "links": "l", "images": "i"}
"""The formats that the pages of a crawl have, each with a letter of the job's id: the SDKs send nothing else with it."""
_NEEDS: Final[dict[str, MadeField]] = {"html": "html", "images": "media"}
"""The field of the page that a format is made of."""


def job_id(crawl_id: str, formats: Collection[str]) -> str:
    """Return the id of a crawl as a job: that of the crawl, with a letter for each format of its documents."""
    return f"{crawl_id}-{''.join(LETTERS[name] for name in formats)}"


async def make_document(
    page: CrawledPage, crawl_id: str, formats: Collection[str], library: Store, retrieval: Retrieval
) -> dict[str, Any]:
    """Return a page of a crawl as a document with these formats."""
    content, about = page.content, page.content.get("metadata") or {}
    document: dict[str, Any] = {}
    if "markdown" in formats:
        document["markdown"] = content.get("markdown", "")
    if "links" in formats:
        document["links"] = list(content.get("links") or ())
    if {"html", RAW, "images"} & set(formats):
        document |= await _read_again(page, crawl_id, formats, library, retrieval)
    metadata = {
        "title": content.get("title"),
        "description": about.get("description"),
        "language": about.get("language"),
        "sourceURL": page.requested,
        "url": page.url,
        "statusCode": page.status or 200,
    }
    document["metadata"] = {name: value for name, value in metadata.items() if value is not None}
    return document


async def _read_again(
    page: CrawledPage, crawl_id: str, formats: Collection[str], library: Store, retrieval: Retrieval
) -> dict[str, Any]:
    """Return the formats that are not stored, from the response that is."""
    raw = await to_thread(read_raw, library, crawl_id, page)
    if raw is None:
        return {}
    fetched = to_fetched(raw)
    needs = tuple(field for name, field in _NEEDS.items() if name in formats)
    extracted = await retrieval.extract(fetched, preview_options(retrieval, clock.now(), needs))
    document: dict[str, Any] = {}
    if "html" in formats:
        document["html"] = extracted.html
    if "images" in formats:
        document["images"] = list(dict.fromkeys(one.url for one in extracted.media if one.kind == "image"))
    if RAW in formats:
        document[RAW] = await decode_source(extracted, fetched, retrieval)
    return document
