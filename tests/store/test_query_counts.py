"""The number of queries of a page or an export does not grow with its rows: a query for each row costs more than the row."""

from __future__ import annotations

import asyncio
import io
import random
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.exports.run import ExportOptions, Format, export
from pagekeep.library.items.browse import read_statistics
from pagekeep.library.items.tags import list_suggestions
from pagekeep.library.queue import revive_by_prefix
from pagekeep.model import Annotation, ItemQuery, NewItem, item_filters
from pagekeep.model.lists import ItemList
from pagekeep.store import Store, open_store, parse_query, postgres, sqlite
from pagekeep.store.tables import find
from tests.store.making import NOW, Server, make_item, make_raw, moment

FEW, MANY = 3, 40


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Return the list to which every query is added when it is sent."""
    sent: list[tuple[str, dict[str, Any]]] = []
    for kind in (sqlite.SqliteTransaction, postgres.PostgresTransaction):
        original = kind.all

        def counted(self: Any, sql: str, *, original: Any = original, **values: Any) -> Any:
            sent.append((sql, values))
            return original(self, sql, **values)

        monkeypatch.setattr(kind, "all", counted)
    return sent


@pytest.fixture
def count_queries(sent: list[tuple[str, dict[str, Any]]]) -> Callable[[Callable[[], object]], int]:
    """Return a function that returns how many queries some work sends."""

    def count(work: Callable[[], object]) -> int:
        sent.clear()
        work()
        return len(sent)

    return count


def fill(library: Store, count: int, first: int = 0) -> None:
    """Items on as many sites, each with its own tag, a note, and a place in its own list."""
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
        library.items.save_many([NewItem(item, make_raw(b"%d" % number), (note,))], lambda old, _: old)
        library.lists.add(ItemList(item.id, f"List {number}", "manual", "", NOW, NOW))
        library.actions.add(item.id, "A change", NOW)


def export_all(library: Store, format: Format) -> bytes:
    out = io.BytesIO()
    asyncio.run(export(library, out, ExportOptions(format), Settings()))
    return out.getvalue()


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda library: library.search.find(parse_query("lamps", limit=100)), id="search"),
        pytest.param(lambda library: list_suggestions(library, limit=100), id="suggestions"),
        pytest.param(lambda library: library.counts.page("tag"), id="tags"),
        pytest.param(lambda library: library.counts.suggest("tag", "tag"), id="completing a tag"),
        pytest.param(lambda library: library.counts.get(["state", "saved", "quality"]), id="counts"),
        pytest.param(lambda library: library.lists.counts(100), id="lists"),
        pytest.param(lambda library: library.actions.list(100), id="actions"),
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
    shown = {row.key: row.name for row in library.counts.page("tag", limit=MANY).counts}
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
        library.jobs.add(f"https://example.com/{number}", f"https://example.com/{number}", {}, NOW)
        for number in range(MANY)
    ]
    wanted = jobs[7]
    assert count_queries(lambda: library.jobs.find_unfinished(wanted.id[:13])) == 1
    assert library.jobs.find_unfinished(wanted.id[:13]) == (wanted,)
    assert revive_by_prefix(library, wanted.id.upper()).id == wanted.id
    for prefix in ("", "zz", "g" * 40, "f" * 33, "0" * 31):
        with pytest.raises(NotFound):
            revive_by_prefix(library, prefix)


def test_a_finished_job_is_not_found_by_its_id(library: Store) -> None:
    job = library.jobs.add("https://example.com/", "https://example.com/", {}, NOW)
    assert library.jobs.lease("me", replace(job).run_after, "2026-01-01T00:00:00.000000Z") is not None
    assert library.jobs.finish(job.id, "me")
    assert library.jobs.find_unfinished(job.id) == ()


def test_statistics_and_storage_read_kept_numbers_only(library: Store, sent: list[tuple[str, dict[str, Any]]]) -> None:
    fill(library, FEW)
    sent.clear()
    library.counts.totals()
    library.blobs.storage()
    library.blobs.total_bytes()
    read_statistics(library)
    assert sent
    for sql, _ in sent:
        assert re.findall(r"(?:FROM|JOIN) (\w+)", sql) == ["item_counts"], sql


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        (ItemQuery(filters=item_filters(tags=("tag 1",)), limit=2), ["item_tags_saved", "INTEGER PRIMARY KEY"]),
        (ItemQuery(filters=item_filters(archived=False), limit=2), ["items_archived", "INTEGER PRIMARY KEY"]),
        (parse_query("lamps", limit=2), ["items", "VIRTUAL TABLE", "VIRTUAL TABLE", "INTEGER PRIMARY KEY"]),
    ],
)
def test_a_page_is_read_along_an_index_and_not_sorted(
    tmp_path: Path, sent: list[tuple[str, dict[str, Any]]], query: ItemQuery, indexes: list[str]
) -> None:
    with closing(open_store(tmp_path / "library.db")) as library:
        fill(library, MANY)
        sent.clear()
        library.search.find(query)
        plans = [_plan(library, sql, values) for sql, values in list(sent) if "item_counts" not in sql]
    assert len(plans) == len(indexes)
    for plan, index in zip(plans, indexes, strict=True):
        assert index in plan
        assert "TEMP B-TREE" not in plan


def _plan(library: Store, sql: str, values: dict[str, Any]) -> str:
    rows = library._engine.read(lambda tx: tx.all(f"EXPLAIN QUERY PLAN {sql}", **values))
    return "; ".join(str(row[-1]) for row in rows)


def test_items_of_a_tag_come_in_the_order_they_were_saved_also_when_that_changes(library: Store) -> None:
    made = [make_item(n, user_id=library.user_id, tags=["sea"], saved_at=moment(n * 7 % 10)) for n in range(10)]
    library.items.save_many([NewItem(item) for item in made], lambda old, _: old)
    later = replace(made[0], saved_at=moment(99))
    library.items.save_many([NewItem(later)], lambda old, new: replace(old, saved_at=new.saved_at))
    wanted = sorted((item.saved_at, item.id) for item in (later, *made[1:]))
    for descending in (False, True):
        query = ItemQuery(filters=item_filters(tags=("Sea",)), descending=descending, limit=3)
        found: list[str] = []
        while True:
            page = library.search.find(query)
            found += [item.id for item in page.items]
            if page.next is None:
                break
            query = replace(query, after=page.next)
        assert found == [item_id for _, item_id in (reversed(wanted) if descending else wanted)]
    assert library.search.count(item_filters(tags=("SEA",))) == 10


def test_a_search_finds_the_same_in_short_ranges_as_in_one(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    words = "lamp ship tide quay rope".split()
    for number in range(60):
        title, text = (" ".join(chance.choices(words, k=count)) for count in (1, 4))
        library.items.save(
            make_item(number, user_id=library.user_id, title=title, content=text, tags=["t"] * (number % 2)), None
        )
    texts = (
        "lamp",
        "lamp ship",
        '"tide quay"',
        "rope -ship",
        '-"lamp ship"',
        "-lamp",
        "qu*",
        'lamp tag:t -"tide tide"',
        "li*",
    )
    found = []
    for first, window in ((2**11, 200), (4, 3), (32, 7)):
        monkeypatch.setattr(postgres, "_FIRST_RANGE", first)
        monkeypatch.setattr(postgres, "_LAST_RANGE", first * 8)
        monkeypatch.setattr(find, "WINDOW", window)
        found.append(
            [{hit.item.id for hit in library.search.find(parse_query(text, limit=100)).hits} for text in texts]
        )
    assert found[0] == found[1] == found[2]
    items = {item.id: f" {item.title} ¶ {item.content} " for item in library.search.find(ItemQuery(limit=100)).items}
    assert found[0][2] == {item_id for item_id, text in items.items() if " tide quay " in text}
    assert found[0][3] == {item_id for item_id, text in items.items() if " rope " in text and " ship " not in text}


def test_the_blocks_of_a_range_have_every_number_of_it(server: Server) -> None:
    chance = random.Random(1)
    with psycopg.connect(server.owner) as owner:
        owner.execute("SET search_path = pagekeep")
        for _ in range(300):
            bottom = chance.randrange(2 ** chance.randrange(1, 40))
            top = bottom + 1 + chance.randrange(2 ** chance.randrange(1, 24))
            seqs = [bottom, top - 1, chance.randrange(bottom, top)]
            rows = owner.execute(
                "SELECT search_lexemes('me', s, 'a b', 'c') @@ search_blocks('me', %s, %s), "
                "search_lexemes('you', s, 'a b', 'c') @@ search_blocks('me', %s, %s) FROM unnest(%s::bigint[]) s",
                (top, bottom, top, bottom, seqs),
            ).fetchall()
            assert rows == [(True, False)] * 3
            blocks = owner.execute("SELECT numnode(search_blocks('me', %s, %s))", (top, bottom)).fetchone()
            assert blocks is not None
            assert blocks[0] < 100
