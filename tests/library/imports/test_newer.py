"""A newer copy of a page in an import becomes a version of the item that the library has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pagekeep.capture.extract import extract_page
from pagekeep.library.imports.input.row import CompleteItem
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_rows
from pagekeep.library.items import build_item
from pagekeep.model import Item, Options, RawPage
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.site.fixtures import article
from tests.store.making import moment

RULES = Rulebook(())
URL = "https://example.com/ferry"


def make(hour: str, minute: int) -> tuple[Item, RawPage]:
    body = article(300, extra=f"<p>The ferry leaves at {hour} in the long winter from the old pier.</p>").encode()
    raw = RawPage(body, "utf-8", "text/html", URL, 200, False, moment(minute))
    fetched = build_item.to_fetched(raw)
    page = extract_page(fetched, Options(), RULES)
    item = build_item.new_item(
        page, fetched, url=URL, url_full=URL, user_id="local", now=moment(minute), saved_at=moment(0), tags=()
    )
    return item, raw


def run_import(library: Store, hour: str, minute: int) -> ImportReport:
    report, (item, raw) = ImportReport(), make(hour, minute)
    rows = iter([("pagekeep", CompleteItem("line 1", item, raw))])
    for _ in import_rows(rows, library, ImportPlan(RULES), report):
        pass
    return report


def test_only_a_newer_copy_with_other_content_is_a_version(tmp_path: Path) -> None:
    library = open_store(tmp_path / "library.db")
    assert run_import(library, "nine", 10).added == 1
    assert run_import(library, "nine", 20).updated == 0  # the same page
    assert run_import(library, "eight", 5).updated == 0  # an older one
    assert run_import(library, "ten", 30).updated == 1
    assert run_import(library, "ten", 30).updated == 0  # the same file again
    item = library.items.by_url(URL)
    assert item is not None
    assert "at ten in" in item.content
    assert [(one.number, one.source) for one in library.snapshots.list(item.id)] == [(1, "web"), (2, "import")]
    library.items.set_metadata(item.id, moment(40), edited=True)
    assert run_import(library, "noon", 50).updated == 0
    assert replace(library.items.get(item.id).metadata, edited=False) == item.metadata
    library.close()
