"""A book as one page for each chapter: printed, saved, and read again from the stored file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import page_in_file, split_book
from pagekeep.config import Settings
from pagekeep.doors.cli.main import cli
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.library.saving.save import save
from pagekeep.store import Store
from tests.capture.documents.tiny_office import make_epub

PAGES = {f"{name}.xhtml": f"<h1>{name}</h1><p>The text of {name} has its own words.</p>" for name in ("dawn", "noon")}
BOOK = make_epub(PAGES, "<ol>" + "".join(f'<li><a href="{name}">{name[:4]}</a></li>' for name in PAGES) + "</ol>")


def test_chapters_are_items_with_addresses_below_the_book(library: Store, settings: Settings) -> None:
    async def go() -> list[tuple[str, str, str, str | None, str]]:
        found = []
        async with Retrieval(settings) as retrieval:
            book = await page_in_file(BOOK, "book.epub", retrieval)
            for chapter in await split_book(book, retrieval):
                item = (await save(SaveRequest(Request(chapter.url), uploaded=chapter), library, retrieval)).item
                again = await reparse_one(item.id, library, retrieval, force=True)
                place = item.url.removeprefix(book.url)
                found.append((item.title, place, again.outcome, item.metadata.site_name, item.content.strip()[-24:]))
        return found

    assert asyncio.run(go()) == [
        ("dawn", "#/1", "unchanged", "The harbour book", "of dawn has its own words."[-24:]),
        ("noon", "#/2", "unchanged", "The harbour book", "of noon has its own words."[-24:]),
    ]


def test_the_command_prints_and_saves_chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    file = tmp_path / "book.epub"
    file.write_bytes(BOOK)
    printed = json.loads(CliRunner().invoke(cli, ["extract", str(file), "--split", "--json"]).stdout)
    assert [(page["metadata"]["title"], page["url"][-3:]) for page in printed["pages"]] == [
        ("dawn", "#/1"),
        ("noon", "#/2"),
    ]
    saved = json.loads(CliRunner().invoke(cli, ["save", str(file), "--split", "--json"]).stdout)
    assert [item["title"] for item in saved["items"]] == ["dawn", "noon"]
    other = tmp_path / "page.html"
    other.write_text("<p>not a book")
    refused = CliRunner().invoke(cli, ["extract", str(other), "--split"])
    assert (refused.exit_code, "Only a book (EPUB) has chapters" in refused.stderr) == (2, True)
