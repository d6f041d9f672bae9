"""Documents that are not part of an export: a PDF in a folder or archive, or alone, is a page by itself."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.capture.uploads import file_url
from pagekeep.library.imports.input.files import document_page, find_type, read_body
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source


def matches(sample: Sample) -> bool:
    """Return whether the file is a document, by its content."""
    return find_type(sample.source) is not None


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield the document, under an address made of its name and content: importing it again changes nothing."""
    body, place = read_body(source), Place(0, 1, source.part)
    url = file_url(source.name, body)
    page = document_page(body, url, None)
    yield Row(place, url, page=page) if page else Fault(place, "The file is not a document.")
