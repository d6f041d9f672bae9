from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.errors import ParseError, UnsupportedContent
from pagekeep.library.imports import run
from pagekeep.library.imports.rows import read_folder
from pagekeep.library.imports.run import MAX_DETAILS, ImportPlan, ImportReport, import_rows, import_stream
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.library.imports import samples
from tests.library.imports.conftest import Bring, everything
from tests.store.making import make_item


def test_a_dry_run_shows_all_and_writes_nothing(library: Store, bring: Bring) -> None:
    bring(samples.pocket_csv())
    before = everything(library)
    report = bring(samples.netscape(), dry_run=True, queue=True, failed=None)
    assert (report.added, report.updated + report.unchanged) == (1, samples.COUNT)
    assert everything(library) == before
    assert library.jobs.list() == ()


def test_a_dry_run_counts_a_page_that_comes_twice_once(bring: Bring) -> None:
    assert bring("https://example.com/a\nhttps://example.com/a#b\n", dry_run=True).added == 1


def test_pages_are_queued_once_and_only_those_never_fetched(library: Store, bring: Bring) -> None:
    there = replace(make_item(1, user_id="keeper", url=samples.pages()[0].url, quality="article"), source="web")
    library.items.save(there, None)
    assert bring(samples.onetab(), queue=True).queued == samples.COUNT - 1
    assert bring(samples.onetab(), queue=True).queued == 0
    assert len(library.jobs.list(limit=1_000)) == samples.COUNT - 1


def test_programs_are_merged_not_doubled(library: Store, bring: Bring) -> None:
    for name, (_, data) in samples.ALL.items():
        bring(data, name)
    items = everything(library)
    assert len(items) == samples.COUNT + 1
    reported = samples.pages()[20]
    item = items[reported.url]
    assert (item.metadata.archived, item.metadata.pinned, item.saved_at) == (True, True, reported.saved_at)
    assert item.metadata.quality == "article"
    assert library.check() == []


def test_carried_content_is_not_read_again_where_there_is_content(bring: Bring) -> None:
    assert bring(samples.wallabag()).carried == samples.COUNT
    assert bring(samples.wallabag()).carried == 0


def test_content_that_cannot_be_read_leaves_a_bookmark_and_a_remark(library: Store, bring: Bring) -> None:
    def read(_fetched: Fetched, _options: Options) -> Page:
        raise ParseError("It hangs.")

    report = bring(samples.wallabag(), read=read)
    assert (report.added, report.failed, report.carried) == (samples.COUNT, 0, 0)
    assert "It hangs." in report.remarks[0][1]
    assert {item.metadata.quality for item in everything(library).values()} == {"bookmark"}


def test_an_import_that_breaks_off_keeps_what_came_before_and_goes_on_when_run_again(
    library: Store, bring: Bring
) -> None:
    whole = samples.goodlinks()
    broken = bring(whole[: len(whole) // 2])
    assert broken.failed == 1
    assert 20 < broken.added < 40
    assert "damaged" in broken.failures[0][1]
    assert bring(whole).added == samples.COUNT - broken.added


@pytest.mark.parametrize("whole", [samples.karakeep(), samples.linkwarden()], ids=["karakeep", "linkwarden"])
def test_a_file_that_needs_two_readings_may_break_off_too(whole: str, bring: Bring) -> None:
    broken = bring(whole[: len(whole) * 3 // 4])
    assert broken.failed == 1
    assert broken.added > 5


def test_the_files_of_an_archive_stand_each_for_itself(library: Store, bring: Bring) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("pocket/part_000000.csv", samples.pocket_csv())
        archive.writestr("pocket/part_000001.csv", "title,url,time_added,tags,status\nX,no address,1,,unread\n")
        highlights = [
            {"url": samples.pages()[1].url, "title": "", "highlights": [{"quote": "fog", "created_at": 1_300_000_000}]}
        ]
        archive.writestr("annotations/part_000000.json", json.dumps(highlights))
        archive.writestr("readme.txt", "Thank you.")
    report = bring(out.getvalue(), "pocket.zip")
    assert (report.added, report.failed, report.skipped) == (samples.COUNT, 1, 1)
    assert report.failures[0][0] == "pocket/part_000001.csv, line 2, entry 1"
    marks = library.annotations.of_item(everything(library)[samples.pages()[1].url].id)
    assert [mark.quote for mark in marks] == ["fog"]


def test_a_folder_is_read_file_by_file(library: Store, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "a.csv").write_text(samples.pocket_csv())
    (folder / "b.html").write_text(samples.netscape())
    report = ImportReport()
    waiting = [
        item
        for batch in import_rows(read_folder(folder, None), library, ImportPlan(Rulebook()), report)
        for item in batch
    ]
    assert report.formats == {"pocket": samples.COUNT, "netscape": samples.COUNT + 1}
    assert {item.id for item in waiting} == {item.id for item in everything(library).values()}


def test_nothing_to_import_is_an_error(library: Store, tmp_path: Path, bring: Bring) -> None:
    with pytest.raises(UnsupportedContent):
        bring("Dear diary")
    with pytest.raises(UnsupportedContent, match="does not contain an export"):
        list(import_rows(read_folder(tmp_path / "none", None), library, ImportPlan(Rulebook()), ImportReport()))


def test_what_is_held_does_not_grow_with_the_failures(bring: Bring) -> None:
    out = io.StringIO()
    report = bring("https://example.com/a\n" + "oops\n" * (MAX_DETAILS + 500), failed=out)
    assert (report.failed, len(report.failures)) == (MAX_DETAILS + 500, MAX_DETAILS)
    assert len(out.getvalue().splitlines()) == MAX_DETAILS + 500
    assert report.to_json()["failures"][0] == {
        "place": "line 2, entry 2",
        "reason": "The URL does not start with http:// or https://.",
        "excerpt": "oops",
    }


def test_rows_are_put_in_batch_by_batch(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "BATCH_ROWS", 10)
    seen: list[int] = []
    plan = ImportPlan(Rulebook(), progress=lambda report: seen.append(report.added))
    import_stream(io.BytesIO(samples.onetab().encode()), "x", library, plan)
    assert seen == [10, 20, 30, 40, 50, 60, 60]
