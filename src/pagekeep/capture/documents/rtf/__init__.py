"""RTF: our own reader of its words, from paragraphs and their formatting to blocks."""

from __future__ import annotations

from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.capture.documents.parts.about import Declared, make_metadata
from pagekeep.capture.documents.parts.blocks import (
    first_heading,
    first_words,
    mark_bold_headings,
    raise_title,
    write_blocks,
)
from pagekeep.capture.documents.refusals import EmptyFile
from pagekeep.capture.documents.rtf.reader import Reader
from pagekeep.model import Options


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in an RTF file."""
    reader = Reader()
    blocks = mark_bold_headings(raise_title(reader.read(data)))
    html = write_blocks(blocks)
    info = reader.info
    declared = Declared(
        "rtf",
        title=info.get("title", ""),
        authors=tuple(info.get("author", "").split(";")),
        subject=info.get("doccomm", "") or info.get("subject", ""),
        keywords=info.get("keywords", ""),
    )
    if not html.strip():
        raise EmptyFile(metadata=make_metadata(declared, "", ""))
    return ParsedDocument(
        f"{html}\n{reader.notes.write()}",
        make_metadata(declared, first_heading(blocks), first_words(blocks)),
        "an RTF, read by its paragraphs",
        tuple(reader.dropped.removals()),
        tuple(reader.dropped.warnings()),
    )
