"""Documents in exports, folders and archives: kept with their files, and read."""

from __future__ import annotations

import json
from pathlib import Path

from pagekeep.library.imports.rows import read_folder
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_rows
from pagekeep.model import Item
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.bulk.making import response
from tests.capture.documents.samples import PDF, SAMPLES, TEXT, WORD, pack
from tests.library.imports import samples
from tests.library.imports.conftest import Bring, everything


def check(library: Store, item: Item, content_type: str = "application/pdf") -> None:
    raw = library.items.raw(item.id)
    assert raw is not None
    assert (raw.body, raw.content_type, item.metadata.file_type) == (PDF, content_type, "PDF")
    assert item.content.endswith(TEXT)


def test_a_pdf_of_omnivore_is_the_page_of_its_row(library: Store, bring: Bring) -> None:
    reported = samples.pages()[31]
    report = bring(samples.omnivore(extra={"content/day-31.pdf": PDF}), "omnivore.zip")
    item = everything(library)[reported.url]
    check(library, item)
    assert (item.metadata.tags, item.saved_at) == (tuple(reported.tags), reported.saved_at)
    assert report.failed == 0


def test_documents_in_a_folder_or_archive_are_items_and_importing_them_again_changes_nothing(
    library: Store, bring: Bring, tmp_path: Path
) -> None:
    data = pack({"papers/harbour.pdf": PDF, "links.txt": "https://example.com/a\n", "papers/broken.pdf": PDF[:60]})
    first, second = bring(data, "mixed.zip"), bring(data, "mixed.zip")
    assert (first.added, first.formats, second.added) == (3, {"document": 2, "list": 1}, 0)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "harbour.pdf").write_bytes(PDF)
    report = ImportReport()
    for _ in import_rows(read_folder(tmp_path / "in", None), library, ImportPlan(Rulebook()), report):
        pass
    assert (report.added, report.unchanged) == (0, 1)
    items = {item.title: item for item in everything(library).values()}
    check(library, items["The old harbour"])
    broken = items["broken.pdf"]
    assert (broken.metadata.quality, broken.metadata.caught) == ("bookmark", "damaged_file")
    assert library.items.raw(broken.id) is not None


def test_every_type_of_document_comes_in_alone_and_from_an_archive(library: Store, bring: Bring) -> None:
    files = {name: data for name, data in SAMPLES.items() if not name.endswith(("csv", "eml", "md", "txt"))}
    report = bring(pack(files), "files.zip")
    assert (report.formats, report.failed) == ({"document": len(files)}, 0)
    assert all(WORD in item.content for item in everything(library).values())
    assert bring(files["wall.epub"], "wall.epub").formats == {"document": 1}
    assert len(everything(library)) == len(files)


def test_a_dump_of_karakeep_has_its_files_lists_and_texts(library: Store, bring: Bring) -> None:
    article = (
        f"<article><h1>Nets</h1>{'<p>The nets dry on the wall until the evening tide comes in.</p>' * 12}</article>"
    )
    bookmarks = [
        {"id": "b1", "createdAt": "2024-05-01T10:00:00.000Z", "title": None, "tags": [{"id": "t", "name": "sea"}],
         "archived": True, "content": {"type": "asset", "assetType": "pdf", "assetId": "a1", "fileName": "harbour.pdf"}},
        {"id": "b2", "createdAt": "2024-05-02T10:00:00.000Z", "title": "Nets", "tags": [],
         "content": {"type": "link", "url": "https://example.com/nets", "htmlContent": article}},
        {"id": "b3", "createdAt": "2024-05-03T10:00:00.000Z", "title": "Lost", "tags": [],
         "content": {"type": "asset", "assetType": "pdf", "assetId": "a9", "sourceUrl": "https://example.com/lost.pdf"}},
    ]  # fmt: skip
    dump: dict[str, str | bytes] = {
        "manifest.json": json.dumps({"format": "karakeep.dump", "version": 1}),
        "bookmarks/index.jsonl": "".join(json.dumps(one) + "\n" for one in bookmarks),
        "lists/index.json": json.dumps([{"id": "l1", "name": "Harbours"}]),
        "lists/membership.json": json.dumps({"l1": ["b1"]}),
        "assets/files/a1": PDF,
    }
    report = bring(pack(dump), "dump.zip")
    items = everything(library)
    pdf = next(item for url, item in items.items() if url.endswith("/harbour.pdf"))
    check(library, pdf)
    assert (pdf.metadata.tags, pdf.metadata.archived) == (("sea", "Harbours"), True)
    assert items["https://example.com/nets"].metadata.quality in ("article", "simplified")
    assert items["https://example.com/lost.pdf"].metadata.quality == "bookmark"
    assert (report.added, report.failed, len(report.remarks)) == (3, 0, 1)


def test_a_pdf_in_a_web_archive_of_another_program_is_a_page(library: Store, bring: Bring) -> None:
    data = response(PDF, url="https://example.com/h.pdf", content_type="application/octet-stream")
    assert bring(data, "crawl.warc").added == 1
    check(library, everything(library)["https://example.com/h.pdf"], "application/octet-stream")
