"""Versions of a page from a real site: added when the content differs, read, compared, restored; on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.errors import Conflict, InvalidQuery, NotFound
from pagekeep.library.archive import versions as texts
from pagekeep.library.archive.versions import (
    compare_versions,
    find_at,
    find_lost,
    get_history,
    pin_version,
    read_version,
    restore_version,
)
from pagekeep.library.items.annotations import annotate
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import refetch_item, save
from pagekeep.model import Snapshot
from pagekeep.store import Store
from tests.library.history.conftest import Run
from tests.site.fixtures import Shore, article, book

FIRST = article(300, extra="<p>The lamp is lit at nine every evening of the long winter.</p>")
SECOND = article(300, extra="<p>The lamp is lit at ten every evening of the long winter.</p>")
NOISY = "<!-- {} --><script>let visit = {}</script>"


async def keep(url: str, library: Store, retrieval: Retrieval, **how: Any) -> Any:
    return await save(SaveRequest(Request(url, render="never"), **how), library, retrieval)


def numbers(library: Store, item_id: str) -> list[int]:
    return [version.number for version in get_history(library, item_id).versions]


def test_a_save_that_changes_the_content_keeps_the_version_before(any_library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library).item
    shore.bodies["a"] = SECOND
    assert run(keep, shore.url("a"), any_library).outcome == "updated"
    assert numbers(any_library, item.id) == [1, 2]
    old = run(read_version, any_library, item.id, number=1)
    assert "lit at nine" in old.text.markdown
    assert "lit at ten" in run(read_version, any_library, item.id).text.markdown
    diff = run(compare_versions, any_library, item.id).diff
    assert (diff.added, diff.removed, diff.excerpt) == (1, 1, "ten")
    assert any_library.check() == []


def test_a_fetch_that_finds_the_same_content_stores_no_page(any_library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library).item
    stored, before = any_library.items.raw(item.id), any_library.counts.totals()
    for number in range(3):
        shore.bodies["a"] = FIRST + NOISY.format(number, number)
        saved = run(keep, shore.url("a"), any_library)
        assert saved.unchanged
        assert saved.item == any_library.items.get(item.id) == item
    assert any_library.items.raw(item.id) == stored
    assert any_library.counts.totals() == before
    assert numbers(any_library, item.id) == [1]
    assert get_history(any_library, item.id).checked_at is not None


def test_an_unchanged_fetch_costs_under_200_bytes(library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), library).item
    run(keep, shore.url("a"), library)

    def size() -> int:
        def pages(tx: Any) -> int:
            ((count,),), ((free,),), ((page,),) = (
                tx.all(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size")
            )
            return int((count - free) * page)

        return int(library._engine.read(pages))

    before, fetches = size(), 20
    for number in range(fetches):
        shore.bodies["a"] = FIRST + NOISY.format(number, number)
        run(keep, shore.url("a"), library)
    assert (size() - before) / fetches < 200
    assert library.items.get(item.id) == item


def test_a_newer_parser_is_not_a_change_of_the_page(
    any_library: Store, shore: Shore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library).item
    rules = book(remove=("article p:first-of-type",))  # other rules extract another text
    monkeypatch.setattr(texts, "PARSER_VERSION", 10_000)
    saved = run(keep, shore.url("a"), any_library, rules=rules)
    assert saved.item.content != item.content
    assert numbers(any_library, item.id) == [1]
    shore.bodies["a"] = SECOND
    run(keep, shore.url("a"), any_library, rules=rules)
    assert numbers(any_library, item.id) == [1, 2]
    diff = run(compare_versions, any_library, item.id, rules=rules).diff
    assert (diff.added, diff.removed) == (1, 1)


def test_a_page_that_a_browser_sends_is_a_version_too(any_library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library).item
    run(keep, shore.url("a"), any_library, uploaded=sent_page(shore.url("a"), SECOND))
    assert [version.source for version in get_history(any_library, item.id).versions] == ["web", "html"]


def test_a_worse_page_is_not_a_version_and_a_wall_none_either(any_library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library).item
    shore.bodies["a"] = "<title>The keeper</title><p>Soon.</p>"
    assert run(keep, shore.url("a"), any_library).outcome == "kept"
    assert numbers(any_library, item.id) == [1]


def test_a_restored_version_is_the_newest_one(any_library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), any_library, tags=("harbour",)).item
    shore.bodies["a"] = SECOND
    run(keep, shore.url("a"), any_library)
    restored = run(restore_version, any_library, item.id, number=1)
    assert "lit at nine" in restored.content
    assert restored.metadata.tags == ("harbour",)
    assert [(one.number, one.source) for one in get_history(any_library, item.id).versions] == [
        (1, "web"),
        (2, "web"),
        (3, "restored"),
    ]
    assert any_library.counts.totals()["raw_pages"] == 2
    assert run(restore_version, any_library, item.id, number=3) == restored
    with pytest.raises(NotFound):
        run(restore_version, any_library, item.id, number=9)


def test_an_edited_text_is_not_replaced_by_an_earlier_version(library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), library).item
    library.items.set_metadata(item.id, item.updated_at, edited=True)
    with pytest.raises(Conflict):
        run(restore_version, library, item.id, number=1)


def test_versions_over_the_limit_go_but_for_pinned_ones(
    any_library: Store, shore: Shore, run: Run, settings: Settings
) -> None:
    from dataclasses import replace

    few = replace(settings, keep_versions=2)
    for number in range(5):
        shore.bodies["a"] = article(300, extra=f"<p>The boat number {number} of the morning has left the pier.</p>")
        item = run(keep, shore.url("a"), any_library, own=few).item
        if number == 0:
            pin_version(any_library, item.id, 1)
    assert numbers(any_library, item.id) == [1, 4, 5]


def test_the_version_of_a_date_is_the_newest_until_then() -> None:
    def version(number: int, day: str) -> Snapshot:
        return Snapshot("x", number, "", 0, f"2025-03-{day}T10:00:00.000000Z", "", 200, False, "web")

    versions = (version(1, "01"), version(2, "05"), version(3, "05"))
    assert find_at(versions, "2025-03-01").number == 1
    assert find_at(versions, "2025-03-05T09:00:00Z").number == 1
    assert find_at(versions, "2025-03-05").number == 3
    assert find_at(versions, "2026-01-01").number == 3
    with pytest.raises(NotFound):
        find_at(versions, "2025-02-28")
    with pytest.raises(InvalidQuery):
        find_at(versions, "yesterday")


def test_highlights_whose_words_are_gone_are_named(library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"] = FIRST
    item = run(keep, shore.url("a"), library).item
    lost = annotate(library, item.id, "lit at nine every evening")
    kept = annotate(library, item.id, "of the long winter")
    annotate(library, item.id, "", note="On the whole page.")
    shore.bodies["a"] = SECOND
    newer = run(keep, shore.url("a"), library).item
    assert [one.id for one in run(compare_versions, library, item.id).lost] == [lost.id]
    assert run(find_lost, newer, library.annotations.of_item(item.id)) == (lost.id,)
    assert kept.id not in run(find_lost, newer, library.annotations.of_item(item.id))


def test_a_refetch_of_an_unchanged_page_by_its_etag_notes_the_check(library: Store, shore: Shore, run: Run) -> None:
    shore.bodies["a"], shore.etags["a"] = FIRST, '"1"'
    item = run(keep, shore.url("a"), library).item
    assert run(refetch_item, item, library).unchanged
    assert get_history(library, item.id).checked_at is not None
    assert numbers(library, item.id) == [1]
