"""`repair` saves every item that can be read from a damaged library."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import Conflict, PagekeepError, StoreError
from pagekeep.model import Annotation, ItemBlob
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store, open_store, parse_query
from pagekeep.store.salvage import INDEX_INTERIOR, INDEX_LEAF, TABLE_LEAF, Pages, salvage
from tests.store.crawls import begin, step, visited
from tests.store.damage import PAGE, flip_pages, make_library, pages_of
from tests.store.making import NOW


def readable(path: Path) -> set[str]:
    """Return the ids of the items that SQLite itself can read, one by one, with all their columns."""
    found = set()
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        for seq in range(1, 100):
            try:
                rows = connection.execute("SELECT * FROM items NOT INDEXED WHERE seq = ?", (seq,)).fetchall()
            except sqlite3.DatabaseError:
                continue
            found |= {row[2] for row in rows}
    return found


@pytest.mark.parametrize("seed", range(20))
def test_every_readable_item_is_in_the_new_library(tmp_path: Path, seed: int) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    ids = make_library(path)
    noise = random.Random(seed)
    count = path.stat().st_size // PAGE
    flip_pages(path, noise.sample(range(1, count + 1), seed + 1), seed)
    before, can_read = path.read_bytes(), readable(path)
    report = salvage(path, new)
    assert path.read_bytes() == before
    with closing(open_store(new)) as library:
        saved = {item_id for item_id, _ in library.items.versions()}
        assert can_read <= saved <= set(ids)
        assert library.check() == []
        lost = {entry["id"] for entry in report.lost_items.values()}
        assert lost <= set(ids) - saved
        assert report.saved["items"] == len(saved)
        one = library.items.get(min(saved))
        found = library.search.find(parse_query(f'"{one.title}"'))
        assert one.id in {hit.item.id for hit in found.hits}


def test_an_intact_library_is_saved_whole(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    ids = make_library(path, 12)
    with closing(open_store(path)) as library:
        library.jobs.add("https://example.com/queued", "https://example.com/queued", {}, "2025-03-19T10:30:00.000000Z")
        library.items.delete(ids[0], "2025-03-19T10:30:00.000000Z")
        library.items.purge()
        kept = library.blobs.put(b"pixels", "2025-03-19T10:30:00.000000Z", compress=True)
        link = ItemBlob(
            "picture", "https://example.com/a.png", "kept", "2025-03-19T10:30:00.000000Z", "image/png", kept, 6
        )
        library.blobs.link(ids[1], [link])
        report = salvage(path, new)  # with a write-ahead log beside it
    assert report.complete
    with closing(open_store(path)) as old, closing(open_store(new)) as library:
        assert library.items.versions() == old.items.versions()
        assert [library.items.get(item_id) for item_id in ids[1:]] == [old.items.get(item_id) for item_id in ids[1:]]
        assert [library.items.raw(item_id) for item_id in ids[1:]] == [old.items.raw(item_id) for item_id in ids[1:]]
        assert library.jobs.list() == old.jobs.list()
        assert (library.blobs.of_item(ids[1]), library.blobs.get(kept)) == ((link,), b"pixels")
        assert ids[0] not in {item_id for item_id, _ in library.items.versions()}


def test_a_damaged_text_and_a_lost_kept_file_are_listed(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    ids = make_library(path, 3)
    with closing(open_store(path)) as library:
        name = library.blobs.put(b"pixels", "2025-03-19T10:30:00.000000Z")
        source = "https://example.com/a.png"
        library.blobs.link(ids[1], [ItemBlob("picture", source, "kept", "2025-03-19T10:30:00.000000Z", "", name, 6)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE items SET content = replace(content, 'Words', 'Wordz') WHERE id = ?", (ids[0],))
        connection.commit()
    (Path(f"{path}.blobs") / name[:2] / name).write_bytes(b"pixelz")
    report = salvage(path, new)
    assert not report.complete
    assert report.notes == [
        f"Item {ids[0]} (Title 0): its text does not have the hash that was recorded with it.",
        f"A kept file is missing or damaged: {name} ({source})",
    ]
    with closing(open_store(new)) as library:
        assert library.items.get(ids[0]).content.startswith("Wordz")
        assert library.blobs.of_item(ids[1]) == ()
        assert library.check() == []


def make_crawl(library: Store, *, pages: int = 60) -> Crawl:
    """A crawl that is done, with one page for each link of the first."""
    crawl = begin(library, "start")
    step(library, crawl)
    step(library, crawl, visits=[visited(0, *(f"page-{number}" for number in range(1, pages)))], want=pages)
    step(library, crawl, visits=[visited(number) for number in range(1, pages)])
    step(library, crawl)  # settles the rest
    return library.crawls.get(crawl.id)


def test_a_crawl_is_saved_with_its_pages(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    make_library(path, 3)
    with closing(open_store(path)) as library:
        crawl = make_crawl(library)
        assert (crawl.state, crawl.kept) == ("done", 60)
        kept = library.crawls.pages(crawl.id, ("kept",))
        report = salvage(path, new)
        assert report.complete
        with closing(open_store(new)) as other:
            assert other.crawls.get(crawl.id) == crawl
            assert other.crawls.pages(crawl.id, ("kept",)) == kept
            assert other.crawls.raw(crawl.id, 7) == library.crawls.raw(crawl.id, 7)
            assert other.crawls.raw(crawl.id, 7) is not None
            assert other.check() == []


def test_a_crawl_that_was_running_is_ended_and_can_be_started_again(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    make_library(path, 3)
    with closing(open_store(path)) as library:
        crawl = begin(library, "start")
        step(library, crawl)
        step(library, crawl, visits=[visited(0, "one", "two")])
        report = salvage(path, new)
    assert any("The crawl of https://example.com/start was ended" in note for note in report.notes)
    with closing(open_store(new)) as library:
        saved = library.crawls.get(crawl.id)
        assert (saved.state, saved.reason, saved.kept) == ("done", "cancelled", 1)
        again = begin(library, "start")
        assert (again.id, again.run, again.state) == (crawl.id, 2, "running")
        (page,) = step(library, again).leased
        assert page.before is not None


def test_a_crawl_with_lost_pages_says_how_many(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    make_library(path, 3)
    with closing(open_store(path)) as library:
        crawl = make_crawl(library)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    flip_pages(path, pages_of(path, "crawl_results")[:2])
    report = salvage(path, new)
    with closing(open_store(new)) as library:
        saved = library.crawls.get(crawl.id)
        assert 0 < saved.kept < 60
        assert len(library.crawls.pages(crawl.id, ("kept",))) == saved.kept
        assert library.check() == []
    assert any(f"{60 - saved.kept} of its pages are lost" in note for note in report.notes)


def test_a_lost_item_is_named(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    ids = make_library(path)
    flip_pages(path, pages_of(path, "items")[:1])
    report = salvage(path, new)
    lost = list(report.lost_items.values())
    assert lost
    assert {entry["id"] for entry in lost} | {item_id for item_id in ids if item_id in _ids(new)} == set(ids)
    assert all(str(entry["title"]).startswith("title ") for entry in lost)
    assert all(entry["url"] for entry in lost)


def _ids(path: Path) -> set[str]:
    with closing(open_store(path)) as library:
        return {item_id for item_id, _ in library.items.versions()}


def test_a_lost_root_page_loses_no_item(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    ids = make_library(path)
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'items'").fetchone()[0]
    flip_pages(path, [root])
    salvage(path, new)
    assert _ids(new) == set(ids)


@pytest.mark.parametrize("kind", [TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR])
def test_noise_that_looks_like_a_page_has_no_rows_and_raises_nothing(kind: int) -> None:
    noise = random.Random(kind)
    for _ in range(100):
        page = bytes([kind]) + noise.randbytes(2) + b"\x04\x00" + noise.randbytes(PAGE - 5)
        pages = Pages(bytes(PAGE) + page)
        assert all(len(row.values) < 20 for row in pages.rows(2))


def test_a_file_without_items_and_an_existing_target_are_refused(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    path.write_bytes(random.Random(1).randbytes(20 * PAGE))
    with pytest.raises(StoreError, match="No item"):
        salvage(path, new)
    assert not new.exists()
    new.write_bytes(b"mine")
    with pytest.raises(Conflict):
        salvage(path, new)
    with pytest.raises(PagekeepError):
        salvage(tmp_path / "missing.db", tmp_path / "other.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["library.db", "new.db"]


def test_the_report_is_not_complete_when_only_other_rows_are_lost(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    make_library(path)
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'annotations'").fetchone()[0]
    flip_pages(path, [root])
    report = salvage(path, new)
    assert not report.lost_items
    assert not report.complete


def test_a_highlight_that_cannot_be_decoded_is_not_nothing_lost(tmp_path: Path) -> None:
    path, new = tmp_path / "library.db", tmp_path / "new.db"
    item_id = make_library(path, 3)[0]
    with closing(open_store(path)) as library:
        library.annotations.put(Annotation(item_id, item_id, "Words", "", "", "", None, NOW, NOW))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE annotations SET quote = CAST(x'576fff' AS TEXT)")
        connection.commit()
    assert not salvage(path, new).complete
