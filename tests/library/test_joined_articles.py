"""Articles over several pages in the library: saved, extracted again, verified, watched, exported and sent by a browser."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.joined_file import PAGES_TYPE, unpack
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.library import watch
from pagekeep.library.exports.run import ExportOptions, export
from pagekeep.library.imports.run import ImportPlan, import_upload
from pagekeep.library.items import build_item
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.saving.reparse import reparse, reparse_one
from pagekeep.library.saving.save import refetch_item, save
from pagekeep.library.verify import ArchiveCheck, select, verify, verify_archive
from pagekeep.model import Item, Options, SaveResult
from pagekeep.rules import shipped
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore
from tests.site.split_articles import paragraph

Run = Callable[..., Any]


def page(number: int, of: int = 3, extra: str = "") -> str:
    """Return a page of an article whose addresses are `a`, `a-2`, `a-3`."""
    random = Random(number)
    texts = "".join(f"<p>{paragraph(random)}</p>" for _ in range(4))
    link = f'<a href="/page/a-{number + 1}">Next page</a>' if number < of else ""
    return f"<title>The boats</title><article><h1>The boats</h1>{texts}<p>End of page {number}{extra}, say the boats.</p>{link}</article>"


@pytest.fixture
def boats(shore: Shore) -> Shore:
    shore.bodies.update({"a": page(1), "a-2": page(2), "a-3": page(3)})
    shore.etags.update({"a": '"1"'})
    return shore


@pytest.fixture
def run(settings: Settings) -> Run:
    def start(work: Callable[..., Awaitable[Any]], *values: Any, using: Settings = settings, **named: Any) -> Any:
        async def one() -> Any:
            async with Retrieval(replace(using, render="never")) as retrieval:
                return await work(*values, retrieval, **named)

        return asyncio.run(one())

    return start


def _save(run: Run, library: Store, url: str, **named: Any) -> SaveResult:
    using = {"using": named.pop("using")} if "using" in named else {}
    saved: SaveResult = run(save, SaveRequest(Request(url), **named), library, **using)
    return saved


def _ends(item: Item) -> list[str]:
    return [number for number in "123" if f"End of page {number}" in item.content]


def test_article_is_saved_with_all_its_pages(boats: Shore, library: Store, run: Run) -> None:
    saved = _save(run, library, boats.url("a"))
    assert (saved.item.metadata.page_count, _ends(saved.item), saved.warnings) == (3, ["1", "2", "3"], ())
    raw = library.items.raw(saved.item.id)
    assert raw is not None
    assert (raw.content_type, raw.final_url, raw.etag) == (PAGES_TYPE, boats.url("a"), None)
    kept = [part.fetched.body.decode() for part in unpack(raw.body).parts]
    assert kept == [boats.bodies[name] for name in ("a", "a-2", "a-3")]
    assert saved.item.metadata.raw_hash == hashlib.sha256(raw.body).hexdigest()
    assert build_item.first_raw_page(raw).body == boats.bodies["a"].encode()


def test_missing_page_is_a_warning_and_comes_with_the_next_fetch(boats: Shore, library: Store, run: Run) -> None:
    gone = boats.bodies.pop("a-3")
    saved = _save(run, library, boats.url("a"))
    assert [warning.code for warning in saved.warnings] == ["pages_missing"]
    assert (saved.item.metadata.quality, _ends(saved.item)) == ("simplified", ["1", "2"])
    assert "Page 3 of the article could not be fetched" in (saved.item.metadata.reason or "")
    boats.bodies["a-3"] = gone
    again = run(refetch_item, saved.item, library)
    assert (again.item.metadata.quality, _ends(again.item)) == ("article", ["1", "2", "3"])


def test_first_page_alone_is_fetched_whole_again_when_the_second_failed(boats: Shore, library: Store, run: Run) -> None:
    gone = boats.bodies.pop("a-2")
    saved = _save(run, library, boats.url("a"))
    assert [warning.code for warning in saved.warnings] == ["pages_missing"]
    assert saved.item.metadata.page_count is None
    boats.bodies["a-2"] = gone
    assert _ends(run(refetch_item, saved.item, library).item) == ["1", "2", "3"]


def test_joined_text_is_derived_again_offline_byte_for_byte(boats: Shore, library: Store, run: Run) -> None:
    item = _save(run, library, boats.url("a")).item
    boats.bodies.clear()
    asked = len(boats.site.requests)
    (result,) = reparse(library, [item.id], shipped(), force=True)
    assert (result.outcome, result.content) == ("unchanged", item.content)
    assert run(reparse_one, item.id, library, force=True).outcome == "unchanged"
    stored = library.items.get(item.id)
    assert stored.metadata == item.metadata
    (verdict,) = verify(library, select(library, [item.id]), shipped())
    assert (verdict.state, verdict.compared) == ("verified", ("raw_page", "text", "markdown", "frontmatter"))
    assert len(boats.site.requests) == asked


def test_refetch_compares_the_joined_texts(boats: Shore, library: Store, run: Run) -> None:
    item = _save(run, library, boats.url("a")).item
    assert run(refetch_item, item, library).unchanged
    assert len(library.snapshots.list(item.id)) == 1
    assert not any("if-none-match" in request.headers for request in boats.site.requests)
    boats.bodies["a-3"] = page(3, extra=" in autumn")
    changed = run(refetch_item, item, library)
    assert "page 3 in autumn" in changed.item.content
    assert len(library.snapshots.list(item.id)) == 2
    (verdict,) = verify(library, select(library, [item.id]), shipped())
    assert verdict.state == "verified"
    assert "versions" in verdict.compared


def test_watching_finds_a_change_of_a_later_page(
    boats: Shore, library: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "CONFIRM_SECONDS", 0.0)
    item = _save(run, library, boats.url("a")).item
    watch.watch(library, item.id)

    def visit() -> Any:
        return run(watch.visit, library.items.get(item.id), library.schedules.get(watch.TASK, item.id), library)

    assert visit() is None
    boats.bodies["a-2"] = page(2, extra=" in autumn")
    change = visit() or visit()
    assert change is not None
    assert "autumn" in change.excerpt
    assert library.items.get(item.id).metadata.page_count == 3


def test_choice_not_to_join_stays_with_the_item(boats: Shore, library: Store, run: Run) -> None:
    saved = run(save, SaveRequest(Request(boats.url("a"), join_pages=False)), library)
    assert _ends(saved.item) == ["1"]
    assert _ends(run(refetch_item, library.items.get(saved.item.id), library, force=True).item) == ["1"]
    assert library.items.get(saved.item.id).metadata.join_pages is False
    assert _ends(run(save, SaveRequest(Request(boats.url("a"), join_pages=True)), library).item) == ["1", "2", "3"]
    job = enqueue(SaveRequest(Request(boats.url("a"), join_pages=False)), library)
    assert job.options["join_pages"] is False


def test_page_sent_by_a_browser_is_the_first_and_the_others_are_fetched(boats: Shore, library: Store, run: Run) -> None:
    sent = sent_page(boats.url("a"), page(1, extra=" behind a login"))
    saved = _save(run, library, boats.url("a"), uploaded=sent, join_uploaded=True)
    assert _ends(saved.item) == ["1", "2", "3"]
    assert "page 1 behind a login" in saved.item.content
    assert saved.item.source == "html"
    assert boats.site.asked("/page/a") == 0


def test_nothing_is_fetched_for_a_sent_page_on_a_private_address(
    boats: Shore, library: Store, run: Run, settings: Settings
) -> None:
    sent = sent_page(boats.url("a"), page(1))
    saved = _save(
        run, library, boats.url("a"), uploaded=sent, join_uploaded=True, using=replace(settings, allow_hosts=())
    )
    assert (_ends(saved.item), saved.warnings, len(boats.site.requests)) == (["1"], (), 0)


def test_nothing_is_fetched_for_a_file(boats: Shore, library: Store, run: Run) -> None:
    _save(run, library, boats.url("a"), uploaded=sent_page(boats.url("a"), page(1)))
    assert boats.site.requests == []


def test_web_archive_has_every_page_and_gives_the_same_item(
    boats: Shore, library: Store, run: Run, tmp_path: Path
) -> None:
    from warcio.archiveiterator import ArchiveIterator

    item = _save(run, library, boats.url("a")).item
    path = tmp_path / "boats.warc.gz"
    asyncio.run(export(library, path, ExportOptions("warc"), Settings()))
    with path.open("rb") as file:
        responses = [
            record.rec_headers["WARC-Target-URI"] for record in ArchiveIterator(file) if record.rec_type == "response"
        ]
    assert responses == [boats.url(name) for name in ("a", "a-2", "a-3")]
    check = ArchiveCheck()
    assert [verdict.state for verdict in verify_archive(path, shipped(), check)] == ["verified"]
    with closing(open_store(tmp_path / "other.db", "keeper")) as other, path.open("rb") as file:
        import_upload(file, path.name, other, ImportPlan(shipped()))
        copied, raw = other.items.get(item.id), other.items.raw(item.id)
        assert (copied.content, copied.metadata) == (item.content, item.metadata)
        assert raw is not None
        assert raw.body == library.items.raw(item.id).body  # type: ignore[union-attr]


def test_limits_of_an_extraction_count_for_each_page(boats: Shore, library: Store, run: Run) -> None:
    item = _save(run, library, boats.url("a")).item
    raw = library.items.raw(item.id)
    assert raw is not None
    read = run(_extract, build_item.to_fetched(raw), Options(max_bytes=len(raw.body) - 1))
    assert read.page_count == 3


async def _extract(fetched: Any, options: Options, retrieval: Retrieval) -> Any:
    return await retrieval.extract(fetched, options)
