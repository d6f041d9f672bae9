"""The source of a page: fetch one page without a library, as `import pagekeep` offers it, and decode it to text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import Final

from pagekeep import clock, config
from pagekeep.capture.extract import document_type
from pagekeep.capture.from_url import Captured, RenderMode, Request, Retrieval, capture
from pagekeep.capture.joined_file import first_page
from pagekeep.config import Settings
from pagekeep.model import MADE_FIELDS, TEXT_FIELDS, EncodingSource, Fetched, Options, Page
from pagekeep.rules.rulebook import Rulebook

_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES: Final = 4_096
"""Where a page declares its encoding."""
_DECLARATION: Final = re.compile(rb"<meta[^>]*charset", re.IGNORECASE)


async def fetch_page(url: str, *, render: RenderMode | None, settings: Settings | None) -> Fetched:
    """Return the page at a URL as it came from its server or from the browser, with its text decoded."""
    settings = settings or config.load()
    if (render or settings.render) == "never":
        async with Retrieval(settings) as retrieval:
            return _decode(await retrieval.client.fetch(url))
    return _decode((await _capture(Request(url, render=render, join_pages=False), settings, None, None)).fetched)


async def fetch_and_extract_page(
    url: str, *, render: RenderMode | None, rules: Rulebook | None, options: Options, settings: Settings | None
) -> Page:
    """Return the content of the page at a URL; its document is dated by the clock unless the options name a time."""
    from pagekeep.markdown import write_document

    options = replace(options, needs=MADE_FIELDS)
    page = (await _capture(Request(url, render=render), settings or config.load(), rules, options)).page
    if not options.enable_markdown:
        return page
    saved_at = options.saved_at or clock.to_the_second(clock.now())
    return page.with_document(write_document(page, saved_at=saved_at))


async def _capture(request: Request, settings: Settings, rules: Rulebook | None, options: Options | None) -> Captured:
    async with Retrieval(settings, rules) as retrieval:
        return await capture(request, retrieval, options=options)


def _decode(fetched: Fetched) -> Fetched:
    """Return the page with its text, and how its encoding was found; a document such as a PDF has no text here."""
    file_type = document_type(fetched)
    if file_type and not file_type.by_name:
        return fetched
    from pagekeep.extraction.input.decode import decode

    text, warnings = decode(fetched.body, Options(encoding=fetched.encoding, max_bytes=len(fetched.body)))
    return replace(fetched, html=text, encoding_source=_encoding_source(fetched, is_utf8=not warnings))


def _encoding_source(fetched: Fetched, *, is_utf8: bool) -> EncodingSource:
    """Return where the encoding comes from, in the order in which it is looked for."""
    from pagekeep.extraction.input.decode import decode_by_label

    if fetched.body.startswith(_BOMS):
        return "bom"
    # A server that names an encoding has named UTF-8 too; any other is only used where it fits the page.
    if fetched.encoding and (is_utf8 or decode_by_label(fetched.body, fetched.encoding) is not None):
        return "http"
    return "meta" if _DECLARATION.search(fetched.body[:_HEAD_BYTES]) else "detected"


async def decode_source(fetched: Fetched, retrieval: Retrieval) -> str:
    """Return a page as it was fetched, as text; of a document that is not text, such as a PDF, its clean HTML.

    Of an article over several pages, the first one.
    """
    file_type = document_type(fetched)
    if file_type and not file_type.by_name:
        options = Options(max_bytes=retrieval.settings.max_bytes, needs=("html",), leaves_out=TEXT_FIELDS)
        return (await retrieval.extract(fetched, options)).html
    return await retrieval.run(_DecodeSource(fetched))


@dataclass(frozen=True, slots=True)
class _DecodeSource:
    fetched: Fetched

    def run(self) -> str:
        """Return the text, in the encoding that the server or the page names."""
        from pagekeep.extraction.input.decode import decode  # it loads the pipeline

        page = first_page(self.fetched)
        return decode(page.body, Options(encoding=page.encoding, max_bytes=len(page.body)))[0]
