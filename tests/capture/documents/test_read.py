"""Documents through every way in, and what keeps them in workers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

import pagekeep
from pagekeep.capture.documents.file_types import FILE_TYPES, detect
from pagekeep.capture.documents.read import read_document
from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.uploads import page_in_file
from pagekeep.config import Settings
from pagekeep.doors.cli.main import cli
from pagekeep.errors import TooLarge
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.library.saving.save import Request, save
from pagekeep.model import Options
from pagekeep.store import Store
from tests.capture.documents.samples import LINES, PDF


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (PDF, "PDF"),
        (b"\r\n\r\n" + PDF, "PDF"),
        (b"<p>A file begins with %PDF-1.7", None),
        (b"<!doctype html><title>x", None),
        (b"", None),
    ],
)
def test_types_are_recognised_by_content(data: bytes, name: str | None) -> None:
    found = detect(data)
    assert (found.name if found else None) == name


def test_python_reads_bytes_of_a_pdf_in_another_process() -> None:
    page = pagekeep.extract(PDF, "https://example.com/h.pdf")
    assert (page.kind, page.strategy, page.metadata.title) == ("document", "document", "The old harbour")
    assert page.document.startswith("---\nsource: https://example.com/h.pdf\ntitle: The old harbour\n")


def test_the_command_prints_a_pdf_as_markdown_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "harbour.html"
    file.write_bytes(PDF)
    result = CliRunner().invoke(cli, ["extract", str(file), "--format", "markdown"])
    assert result.output == f"# The old harbour\n\n{' '.join(LINES)}\n"


def test_a_saved_pdf_keeps_its_file_and_is_reparsed_from_it(library: Store, settings: Settings) -> None:
    async def go() -> tuple[str, str]:
        async with Retrieval(settings) as retrieval:
            uploaded = await page_in_file(PDF, "harbour.pdf", retrieval)
            saved = await save(SaveRequest(Request(uploaded.url), uploaded=uploaded), library, retrieval)
            again = await reparse_one(saved.item.id, library, retrieval, force=True)
            return saved.item.id, again.outcome

    key, outcome = asyncio.run(go())
    raw = library.items.raw(key)
    assert raw is not None
    assert (raw.body, raw.content_type, outcome) == (PDF, "application/pdf", "unchanged")
    assert library.items.get(key).metadata.heading_pages == (1,)


def test_a_damaged_pdf_is_saved_as_a_bookmark_with_its_file(library: Store, settings: Settings) -> None:
    async def go() -> str:
        async with Retrieval(settings) as retrieval:
            uploaded = await page_in_file(PDF[:60], "harbour.pdf", retrieval)
            return (await save(SaveRequest(Request(uploaded.url), uploaded=uploaded), library, retrieval)).item.id

    item = library.items.get(key := asyncio.run(go()))
    assert item.metadata.quality == "bookmark"
    assert "damaged" in (item.metadata.reason or "")
    assert library.items.raw(key) is not None


def test_every_type_has_its_extra_and_its_module() -> None:
    from importlib.util import find_spec

    from pagekeep.extras import EXTRAS

    for one in FILE_TYPES:
        assert find_spec(f"pagekeep.capture.documents.{one.module}") is not None
        assert one.extra is None or one.extra in EXTRAS


def test_a_document_may_be_five_times_as_large_as_a_page() -> None:
    found = detect(PDF)
    assert found is not None
    assert LINES[0] in read_document(found, PDF, None, Options(max_bytes=len(PDF) // 5 + 1)).text
    with pytest.raises(TooLarge, match="The PDF is too large"):
        read_document(found, PDF, None, Options(max_bytes=len(PDF) // 6))
