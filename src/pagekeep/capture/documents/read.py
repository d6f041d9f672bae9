"""Turn the file of a document into a page, by the same clean-up, sanitiser and writer as HTML."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.file_types import FileType
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.page_output import add_language_and_tags, write_output
from pagekeep.errors import TooLarge
from pagekeep.extraction import clean
from pagekeep.extraction.output import quality, result_parts
from pagekeep.model import DOCUMENT_FACTOR, Attempt, Options, Page, Strategy, Trace

_SKIPPED: Final = frozenset({"callouts", "layout-tables", "bullet-lists", "typed-math"})
"""Clean-up steps for habits of web pages; a document's tables and lists were recognised by its reader."""


def read_document(file_type: FileType, data: bytes, url: str | None, options: Options) -> Page:
    """Return the document as a page; only for worker processes. Raise `TooLarge` over the limit of the options.

    A file that cannot be read, or has no text, gives a bookmark that says why.
    """
    limit = options.max_bytes * DOCUMENT_FACTOR
    if len(data) > limit:
        size = f"{len(data) / 1e6:.1f} MB, over the limit of {limit / 1e6:g} MB"
        raise TooLarge(f"The {file_type.name} is too large: {size}.")
    return make_document_page(file_type.read(data, url, options), url, options, file_type.name)


def make_document_page(parsed: ParsedDocument, url: str | None, options: Options, file_type: str | None = None) -> Page:
    """Return a parsed document as a page."""
    caught = parsed.caught
    content = result_parts.make_bookmark_content(parsed.metadata) if caught else dom.parse_fragment(parsed.html)
    base = url if url and url.startswith(("http://", "https://")) else None
    skip = options.skip_steps if parsed.is_web else _SKIPPED | options.skip_steps
    content, removals = clean.clean(content, base, skip=skip)
    output, url = write_output(content, parsed.markdown), url or parsed.address
    about, failures = add_language_and_tags(parsed.metadata, output.text, url)
    strategy: Strategy = "bookmark" if caught else "document"
    comparison = quality.NOT_COMPARED if caught else quality.Comparison(note=parsed.how)
    reason = caught.reason if caught else None
    warnings = (*parsed.warnings, *failures)
    is_cut = any(warning.code == "truncated" for warning in warnings)
    page = result_parts.make_page(
        url,
        output,
        about,
        "document",
        quality.assess(output, strategy, about, reason, comparison, is_cut=is_cut),
        strategy,
        Trace(
            kind_reasons=(parsed.how,),
            attempts=(Attempt(strategy, not caught, reason or parsed.how, output.word_count),),
            removals=(*parsed.removals, *removals),
            warnings=warnings,
            seconds=MappingProxyType(parsed.seconds),
        ),
        links=result_parts.list_links(output.root),
        media=result_parts.list_media(output.root),
        caught=caught,
        page_count=parsed.page_count,
        file_type=file_type,
    )
    return result_parts.leave_out(page, options)
