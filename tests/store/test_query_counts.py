"""The number of queries of a page or an export does not grow with its rows: a query for each row costs more than the row."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.exports.run import ExportOptions, Format, export
from pagekeep.library.lists.suggestions import list_suggestions
from pagekeep.library.queue.jobs import revive_by_prefix
from pagekeep.model import Annotation, NewItem
from pagekeep.model.lists.values import ItemList
from pagekeep.store import Store, parse_query, postgres, sqlite
from tests.store.making import NOW, make_item, make_raw

FEW, MANY = 3, 40


@pytest.fixture
def count_queries(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], int]:
    """Return a function that returns how many queries some work sends."""
    sent: list[str] = []
    for kind in (sqlite.SqliteTransaction, postgres.PostgresTransaction):
        original = kind.all

        def counted(self: Any, sql: str, *, original: Any = original, **values: Any) -> Any:
            sent.append(sql)
            return original(self, sql, **values)

        monkeypatch.setattr(kind, "all", counted)

    def count(work: Callable[[], object]) -> int:
        sent.clear()
        work()
        return len(sent)

    return count


def fill(library: Store, count: int, first: int = 0) -> None:
    """Items on as many sites, each with a tag of its own, a note, and a place in a list of its own."""
    for number in range(first, first + count):
        item = make_item(
            number,
            user_id=library.user_id,
            title=f"Harbour number {number}",
            content="Lamps and ships.",
            domain=f"site{number}.example.com",
            tags=[f"Tag {number}"],
            suggested_tags=["lamp"],
        )
        note = Annotation(item.id, item.id, "Lamps", "", "", "", None, NOW, NOW)
        library.upsert_many([NewItem(item, make_raw(b"%d" % number), (note,))], lambda old, _: old)
        library.add_list(ItemList(item.id, f"List {number}", "manual", "", NOW, NOW))
        library.add_action(item.id, "A change", NOW)


def export_all(library: Store, format: Format) -> bytes:
    out = io.BytesIO()
    asyncio.run(export(library, out, ExportOptions(format), Settings()))
    return out.getvalue()


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda library: library.find(parse_query("lamps", limit=100)), id="search"),
        pytest.param(lambda library: list_suggestions(library, limit=100), id="suggestions"),
        pytest.param(lambda library: library.count_page("tag"), id="tags"),
        pytest.param(lambda library: library.suggest("tag", "tag"), id="completing a tag"),
        pytest.param(lambda library: library.counts(["state", "saved", "quality"]), id="counts"),
        pytest.param(lambda library: library.list_counts(100), id="lists"),
        pytest.param(lambda library: library.actions(100), id="actions"),
        pytest.param(lambda library: export_all(library, "jsonl"), id="export as JSON Lines"),
        pytest.param(lambda library: export_all(library, "netscape"), id="export as bookmarks"),
        pytest.param(lambda library: export_all(library, "html"), id="export as a page"),
    ],
)
def test_the_number_of_queries_does_not_grow_with_the_rows(
    library: Store, count_queries: Callable[[Callable[[], object]], int], work: Callable[[Store], object]
) -> None:
    fill(library, FEW)
    few = count_queries(lambda: work(library))
    fill(library, MANY, first=FEW)
    assert count_queries(lambda: work(library)) == few


def test_each_tag_is_shown_as_its_items_spell_it(library: Store) -> None:
    fill(library, MANY)
    shown = {row.key: row.name for row in library.count_page("tag", limit=MANY).counts}
    assert shown == {f"tag {number}": f"Tag {number}" for number in range(MANY)}


def test_each_line_of_an_export_has_its_own_annotations(library: Store) -> None:
    fill(library, MANY)
    lines = export_all(library, "jsonl").decode().splitlines()
    assert len(lines) == MANY
    for line in lines:
        assert line.count('"quote": "Lamps"') == 1


def test_a_job_is_found_by_the_beginning_of_its_id_with_one_query(
    library: Store, count_queries: Callable[[Callable[[], object]], int]
) -> None:
    jobs = [
        library.enqueue(f"https://example.com/{number}", f"https://example.com/{number}", {}, NOW)
        for number in range(MANY)
    ]
    wanted = jobs[7]
    assert count_queries(lambda: library.unfinished_jobs(wanted.id[:13])) == 1
    assert library.unfinished_jobs(wanted.id[:13]) == (wanted,)
    assert revive_by_prefix(library, wanted.id.upper()).id == wanted.id
    for prefix in ("", "zz", "g" * 40, "f" * 33, "0" * 31):
        with pytest.raises(NotFound):
            revive_by_prefix(library, prefix)


def test_a_finished_job_is_not_found_by_its_id(library: Store) -> None:
    job = library.enqueue("https://example.com/", "https://example.com/", {}, NOW)
    assert library.lease("me", replace(job).run_after, "2026-01-01T00:00:00.000000Z") is not None
    assert library.finish(job.id, "me")
    assert library.unfinished_jobs(job.id) == ()
