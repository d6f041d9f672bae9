"""PDF objects: any file gives a page or a typed error, in bounded time and without a crash of the library below."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.capture.documents.file_types import FILE_TYPES
from pagekeep.capture.documents.read import read_document
from pagekeep.errors import PagekeepError
from pagekeep.model import Options
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf
from tests.fuzz.target import Target, expect
from tests.hostile.documents import KINDS

_PDF = FILE_TYPES[0]


def check(data: bytes) -> None:
    """Read the file as a PDF, whatever it begins with."""
    try:
        page = read_document(_PDF, data, "https://example.com/a.pdf", Options())
    except PagekeepError:
        return
    for text in (page.markdown, page.html, page.metadata.title or ""):
        text.encode("utf-8")
    expect("\0" not in page.markdown, "a NUL in the text")


def seeds() -> Iterator[bytes]:
    """Yield small files: text, columns, tables, links, and objects that they do not have."""
    yield from KINDS["pdf"].originals()
    yield make_pdf(
        [TinyPage().write("The old harbour", 60, 80, 20).paragraph(["It lies north", "of the town."], 60, 110)]
    )
    small = make_pdf([TinyPage().write("Words", 60, 80)])
    for old, new in (
        (b"/Type /Page", b"/Rotate 90 /Type /Page"),
        (b"/MediaBox", b"/CropBox [0 0 1 1] /MediaBox"),
        (b"/Type /Catalog", b"/Type /Catalog /MarkInfo << /Marked true >> /StructTreeRoot 1 0 R"),
        (b"/Type /Catalog", b"/Type /Catalog /Outlines 1 0 R /Names << /Dests 1 0 R >>"),
    ):
        yield small.replace(old, new)


TARGET = Target(
    check,
    seeds,
    max_bytes=6_000,
    words=(
        *(
            b"/Type /Page",
            b"/Kids [",
            b"/Parent ",
            b" 0 R",
            b"/Contents ",
            b"/Resources ",
            b"/Font ",
            b"/ToUnicode ",
            b"stream\n",
        ),
        *(
            b"endstream",
            b"endobj",
            b"1 0 obj",
            b"BT ",
            b" Tf ",
            b" Td ",
            b" Tj ",
            b" TJ ",
            b" Tm ",
            b" cm ",
            b" re ",
            b" Do ",
        ),
        *(
            b"/XObject ",
            b"/Filter /FlateDecode",
            b"/Encrypt ",
            b"/StructTreeRoot ",
            b"/MCID 0",
            b"BDC",
            b"EMC",
            b"/Annots [",
        ),
        *(
            b"/MediaBox [",
            b"99999999",
            b"-1",
            b"trailer",
            b"startxref",
            b"xref\n",
            b"/Prev ",
            b"/ObjStm",
            b"/URI (",
            b"/Length ",
        ),
    ),
)
