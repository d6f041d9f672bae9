"""Stored pages read again: seed 000's migration, offline."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.library.items.change import change_item
from pagekeep.library.saving import reparse
from pagekeep.library.saving.reparse import ReparseResult, stale_ids
from pagekeep.model import PARSER_VERSION, Item, SaveResult
from pagekeep.model.lists import ItemChange
from pagekeep.rules import Rulebook, shipped
from pagekeep.store import Store
from tests.site.fixtures import Shore, article, book

Keep = Callable[..., SaveResult]
OLD = PARSER_VERSION - 1
RULES = shipped()


def age(library: Store, item: Item, content: str = "---\ntitle: x\n---\nOld reading.\n", **metadata: Any) -> Item:
    """The item as an older parser would have left it."""
    return library.items.replace_content(
        item.id,
        content=content,
        title="Old title",
        author="Nobody",
        published_at=None,
        metadata=replace(item.metadata, **{"parser_version": OLD, "word_count": 2, **metadata}),
        now=clock.now(),
    )


def run(library: Store, ids: list[str] | None = None, rules: Rulebook = RULES, **how: Any) -> list[ReparseResult]:
    wanted: Iterator[str] = stale_ids(library, rules) if ids is None else iter(ids)
    return list(reparse.reparse(library, wanted, rules, **how))


@pytest.fixture
def three(keep: Keep, shore: Shore, library: Store) -> list[Item]:
    """Three items that an older parser has read, the oldest first."""
    for name in "abc":
        shore.bodies[name] = article(300, title=f"Page {name}")
    return [age(library, keep(shore.url(name), tags=("mine",)).item) for name in "abc"]


def test_only_stale_items_are_touched(keep: Keep, shore: Shore, library: Store, three: list[Item]) -> None:
    shore.bodies["d"] = article(300)
    fresh = keep(shore.url("d")).item
    assert [result.item.id for result in run(library)] == [item.id for item in three]
    assert library.items.get(fresh.id) == fresh
    assert run(library) == []


def test_an_item_is_read_again_from_its_stored_page_without_the_network(
    shore: Shore, library: Store, three: list[Item]
) -> None:
    asked = len(shore.site.requests)
    results = run(library)
    assert [result.outcome for result in results] == ["updated"] * 3
    item = library.items.get(three[0].id)
    assert (item.title, item.author) == ("Page a", None)
    assert "puts the kettle on" in item.content
    assert item.metadata.parser_version == PARSER_VERSION
    assert len(shore.site.requests) == asked


def test_what_the_user_set_survives(library: Store, three: list[Item]) -> None:
    before = change_item(library, three[0].id, ItemChange(pinned=True, archived=True, add_tags=("later",)))
    run(library)
    after = library.items.get(three[0].id)
    for field in ("id", "url", "url_full", "saved_at", "created_at", "last_opened_at"):
        assert getattr(after, field) == getattr(before, field)
    for key in ("pinned", "archived", "tags"):
        assert getattr(after.metadata, key) == getattr(before.metadata, key)
    assert f"saved_at: {clock.to_the_second(before.saved_at)}" in after.content


def test_a_reading_equals_that_of_the_save_it_came_from(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    saved = keep(shore.url("a")).item
    (result,) = run(library, [saved.id])
    assert result.outcome == "unchanged"
    assert library.items.get(saved.id).content == saved.content


def test_dry_run_shows_what_would_change_and_writes_nothing(library: Store, three: list[Item]) -> None:
    results = run(library, dry_run=True)
    assert [result.outcome for result in results] == ["updated"] * 3
    assert "puts the kettle on" in (results[0].content or "")
    assert [library.items.get(item.id) for item in three] == three


def test_limit_takes_the_oldest_and_the_next_run_goes_on(library: Store, three: list[Item]) -> None:
    first = list(reparse.reparse(library, stale_ids(library, RULES, limit=2), RULES))
    assert [result.item.id for result in first] == [item.id for item in three[:2]]
    assert [result.item.id for result in run(library)] == [three[2].id]


def test_a_run_that_stops_midway_goes_on_where_it_was(library: Store, three: list[Item]) -> None:
    results = reparse.reparse(library, stale_ids(library, RULES), RULES)
    next(results)
    results.close()
    assert [result.item.id for result in run(library)] == [item.id for item in three[1:]]


def test_a_worse_reading_replaces_nothing_unless_forced(library: Store, three: list[Item]) -> None:
    better = age(library, three[0], "A far longer reading.", quality="article", word_count=5000)
    (result,) = run(library, [better.id])
    assert (result.outcome, library.items.get(better.id)) == ("kept", better)
    assert "5,000" in (result.note or "")
    (forced,) = run(library, [better.id], force=True)
    assert forced.outcome == "updated"
    assert "puts the kettle on" in library.items.get(better.id).content


def test_a_failure_leaves_its_item_unchanged_and_the_run_goes_on(library: Store, three: list[Item]) -> None:
    broken = age(library, three[1])
    raw = library.items.raw(broken.id)
    assert raw is not None
    library.items.save(broken, replace(raw, body=b"\x89PNG\r\n\x1a\n\x00\x00", content_type="text/html"))
    before = library.items.get(broken.id)
    outcomes = {result.item.id: result.outcome for result in run(library)}
    assert outcomes == {three[0].id: "updated", broken.id: "failed", three[2].id: "updated"}
    assert library.items.get(broken.id) == before


def test_an_item_whose_page_was_not_kept_is_reported_as_a_failure(library: Store, three: list[Item]) -> None:
    library.items.save(three[0], None)
    (result,) = run(library, [three[0].id])
    assert (result.outcome, result.note) == ("failed", "The downloaded HTML of this page was not stored.")


def test_a_damaged_page_is_reported_as_a_failure_and_the_run_goes_on(
    library: Store, three: list[Item], tmp_path: Path
) -> None:
    raw = library.items.raw(three[1].id)
    assert raw is not None
    with sqlite3.connect(tmp_path / "library.db") as db:
        db.execute("UPDATE raw_bodies SET body = x'00' WHERE hash = ?", (hashlib.sha256(raw.body).hexdigest(),))
    db.close()
    assert [result.outcome for result in run(library)] == ["updated", "failed", "updated"]
    assert library.items.get(three[1].id) == three[1]


def test_an_item_that_is_gone_by_now_is_passed_over(library: Store, three: list[Item]) -> None:
    library.items.delete(three[0].id, clock.now())
    library.items.purge([three[0].id])
    assert [result.item.id for result in run(library, [item.id for item in three])] == [three[1].id, three[2].id]


def test_a_success_clears_what_the_old_reading_complained_of(library: Store, three: list[Item]) -> None:
    age(
        library, three[0], quality="bookmark", reason="too short", suggestion="Retry.", retry_count=2, caught="bot_wall"
    )
    run(library)
    assert not any(
        getattr(library.items.get(three[0].id).metadata, name)
        for name in ("reason", "suggestion", "retry_count", "caught")
    )


@pytest.fixture
def many(library: Store, three: list[Item]) -> list[str]:
    """More items than are worth a pool, all stale; made from one real one."""
    raw = library.items.raw(three[0].id)
    ids = [item.id for item in three]
    for number in range(30):
        made = replace(three[0], id=f"{number:08x}-0000-4000-8000-000000000000", url=f"https://example.com/{number}")
        ids.append(library.items.save(made, raw).id)
    return ids


def test_several_processes_give_the_same_as_one(library: Store, many: list[str]) -> None:
    alone = [
        (result.item.id, result.outcome, result.content) for result in run(library, many, dry_run=True, processes=1)
    ]
    pooled = [(result.item.id, result.outcome, result.content) for result in run(library, many, processes=2)]
    assert pooled == alone
    assert run(library) == []


def extract_or_die(sent: Any) -> Item:
    """Extracts a page as the real function does, but for one page that kills the process."""
    if sent[0].item.url.endswith("/7"):
        os._exit(9)
    return reparse.extract_stored(sent)


def test_a_page_that_kills_its_process_is_reported_and_the_others_are_read(
    library: Store, many: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reparse, "_TASK", f"{__name__}:{extract_or_die.__name__}")
    results = run(library, many, processes=2)
    assert len(results) == len(many)
    failed = [result for result in results if result.outcome == "failed"]
    assert [result.item.url for result in failed] == ["https://example.com/7"]
    assert library.items.get(failed[0].item.id).content == failed[0].item.content


# Other rules than those that read the page.


def test_other_rules_make_every_item_stale_once(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300, extra="<p class=odd>Mind the frogs.</p>")
    item = keep(shore.url("a")).item
    assert "frogs" in item.content
    assert run(library) == []
    without_frogs = book(remove=(".odd",))
    assert [result.outcome for result in run(library, rules=without_frogs)] == ["updated"]
    assert "frogs" not in library.items.get(item.id).content
    assert run(library, rules=without_frogs) == []


def test_rules_reach_the_processes_that_read(library: Store, many: list[str]) -> None:
    results = run(library, many, rules=book(discard=True), processes=2, dry_run=True, force=True)
    assert {result.outcome for result in results} == {"updated"}
    assert not any("kettle" in (result.content or "") for result in results)


def test_a_rule_that_discards_replaces_a_good_reading_only_when_forced(
    keep: Keep, shore: Shore, library: Store
) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    discarding = book(discard=True)
    (kept,) = run(library, rules=discarding)
    assert (kept.outcome, kept.note) == ("kept", "a rule now discards the page, and the stored version has content")
    assert library.items.get(item.id) == item
    run(library, rules=discarding, force=True)
    assert library.items.get(item.id).metadata.discarded
    assert library.items.get(item.id).metadata.archived


def test_a_page_comes_back_when_the_rule_that_discarded_it_is_gone(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a"), rules=book(discard=True)).item
    assert [result.outcome for result in run(library)] == ["updated"]
    again = library.items.get(item.id)
    assert "kettle" in again.content
    assert not again.metadata.archived
    assert not again.metadata.discarded


def test_the_users_own_version_is_kept_even_by_force(library: Store, three: list[Item]) -> None:
    own = age(library, three[0], "---\ntitle: x\n---\n\nMy own words.\n", edited=True)
    (result,) = run(library, [own.id], force=True)
    assert (result.outcome, result.note) == ("kept", "the text is your own version")
    assert library.items.get(own.id).content == own.content


def test_an_item_that_is_purged_while_it_is_read_is_left_out(library: Store, three: list[Item]) -> None:
    results = reparse.reparse(library, [item.id for item in three], RULES, force=True, processes=1)
    first = next(results).item.id
    gone = next(item.id for item in three if item.id != first)
    library.items.delete(gone, clock.now())
    library.items.purge([gone])
    assert gone not in [result.item.id for result in results]


def test_a_text_that_was_saved_while_the_old_page_was_read_stays(library: Store, three: list[Item]) -> None:
    results = reparse.reparse(library, [item.id for item in three], RULES, force=True, processes=1)
    first = next(results).item.id
    newer = next(item for item in three if item.id != first)
    age(library, newer, "---\ntitle: x\n---\nSaved in the meantime.\n")
    outcomes = {result.item.id: (result.outcome, result.note) for result in results}
    assert outcomes[newer.id] == ("kept", "the page was saved or edited in the meantime")
    assert "Saved in the meantime." in library.items.get(newer.id).content
