"""Edits, lists, save rules, suggested tags and changes of many items, as use cases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.archive.pictures import wanted_sources
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.jsonl import read_line, write_line
from pagekeep.library.imports.formats import own_files
from pagekeep.library.imports.input.row import Place
from pagekeep.library.items import change, lists, save_rules, tags
from pagekeep.library.items.change import edit_item
from pagekeep.library.queue import SliceResult
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.markdown.frontmatter import read_block, split_block
from pagekeep.model import Item, Job
from pagekeep.model.lists import ItemChange, SaveActions, edited_fields
from pagekeep.present.item_content import shown_content
from pagekeep.store import Store, open_store
from tests.site.fixtures import article
from tests.store.making import NOW, make_item, make_raw, moment

BODY = "---\nsource: https://example.com/page/{0}\ntitle: Page {0}\nauthor: Writer\nquality: article\n---\n\n# Page {0}\n\nText.\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db")) as opened:
        yield opened


def fill(store: Store, count: int) -> list[Item]:
    return [
        store.items.save(
            make_item(
                number,
                title=f"Page {number}",
                author="Writer",
                content=BODY.format(number),
                saved_at=moment(number),
                quality="article",
            ),
            make_raw(),
        )
        for number in range(count)
    ]


def run(store: Store, job: Job | None) -> int:
    """Run a job of many items to its end; return in how many parts."""
    assert job is not None
    parts = 0
    while True:
        leased = store.jobs.lease("test", clock.now(), clock.add_seconds(clock.now(), 60), job_id=job.id)
        assert leased is not None
        result = asyncio.run(_run(leased, store))
        parts += 1
        if result.report is not None:
            store.jobs.finish(job.id, "test", None, result.report)
            return parts
        store.jobs.put_back(job.id, "test", result.so_far or {}, clock.now())


async def _run(job: Job, store: Store) -> SliceResult:
    async with Retrieval(Settings(render="never")) as retrieval:
        return await change.bulk_job(job, store, retrieval, lambda _stage: None, reparse=reparse_one)


def test_edits_are_in_every_form_of_a_page_and_marked(store: Store) -> None:
    item = fill(store, 1)[0]
    (item,) = edit_item(store, item.id, {"title": "Mine: a boat", "author": "", "published_at": "2020-05"}).items
    assert edited_fields(item) == ("title", "author", "published_at")
    assert item.content == BODY.format(0)
    fields = read_block(split_block(shown_content(item))[0])
    assert (fields["title"], fields.get("author"), fields["published_date"]) == ("Mine: a boat", None, "2020-05")
    assert fields["edited_fields"] == ["title", "author", "published_date"]
    text = markdown_files.write(item)
    again = own_files.build_item(markdown_files.read(text), Place(1, 1, ""), NOW).item
    assert (again.title, again.author, edited_fields(again)) == (item.title, None, edited_fields(item))
    assert "edited_fields" not in again.content
    assert "edited_fields" in markdown_files.write(item, profile="obsidian")
    copied, _ = read_line(write_line(item, ()), "")
    assert edited_fields(copied) == edited_fields(item)


@pytest.mark.parametrize(
    "values", [{"title": " "}, {"published_at": "yesterday"}, {"published_at": "2024-13-01"}, {"url": "x"}]
)
def test_edits_that_make_no_sense_are_refused(store: Store, values: dict[str, str]) -> None:
    item = fill(store, 1)[0]
    with pytest.raises(InvalidQuery):
        edit_item(store, item.id, values)
    assert store.items.get(item.id) == item
    assert store.actions.list() == ()


def test_few_items_are_changed_at_once_and_many_by_a_job(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    items = fill(store, 12)
    done = change.change_found(store, "page", ItemChange(add_tags=("#x ",)), "Tagged")
    assert (done.job, done.action.changed, len(done.items)) == (None, 12, 12)
    assert store.items.get(items[3].id).metadata.tags == ("x",)
    monkeypatch.setattr(change, "MAX_AT_ONCE", 5)
    monkeypatch.setattr(change, "_BATCH", 4)
    monkeypatch.setattr(change, "_PAGE", 5)
    done = change.change_found(store, "-is:archived", ItemChange(archived=True), "Archived")
    assert done.job is not None
    assert not any(store.items.get(item.id).metadata.archived for item in items)
    run(store, done.job)
    assert all(store.items.get(item.id).metadata.archived for item in items)
    assert store.actions.get(done.action.id).changed == 12
    result, job = change.undo_action(store, done.action.id)
    assert (result.undone, job is not None) == (5, True)
    run(store, job)
    assert not any(store.items.get(item.id).metadata.archived for item in items)
    with pytest.raises(NotFound):
        change.change_found(store, "nothing", ItemChange(archived=True), "Archived")
    with pytest.raises(InvalidQuery):
        change.change_found(store, "feed:all", ItemChange(archived=True), "Archived")


def test_an_action_that_is_undone_while_it_runs_stops(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    items = fill(store, 6)
    monkeypatch.setattr(change, "MAX_AT_ONCE", 2)
    done = change.change_found(store, "", ItemChange(deleted=True), "Deleted")
    change.undo_action(store, done.action.id)
    run(store, done.job)
    assert all(store.items.get(item.id).deleted_at is None for item in items)


def test_a_saved_search_and_a_manual_list_are_read_in_pages(store: Store) -> None:
    items = fill(store, 5)
    found = lists.add_list(store, " All  pages ", "page")
    assert found.name == "All pages"
    page = lists.list_page(store, found, limit=3)
    assert len(page.items) + len(lists.list_page(store, found, limit=3, after=page.next).items) == 5
    newest = lists.list_page(store, lists.add_list(store, "Newest", "-is:archived"), limit=2)
    assert [item.id for item in newest.items] == [items[4].id, items[3].id]
    manual = lists.add_list(store, "Mine")
    lists.add_items(store, "mine", [item.id for item in items])
    for move, expected in (("down", "10234"), ("up", "01234"), ("bottom", "12340"), ("top", "01234")):
        lists.move_by(store, manual.id, items[0].id, move)  # type: ignore[arg-type]
        assert "".join(item.title[-1] for item in lists.list_page(store, manual).items) == expected
    for wrong in (
        lambda: lists.add_items(store, "newest", [items[0].id]),
        lambda: lists.add_list(store, "F", "feed:x"),
    ):
        with pytest.raises(InvalidQuery):
            wrong()


def test_a_rule_is_tried_and_applied_without_being_switched_on(store: Store) -> None:
    items = fill(store, 3)
    reading = lists.add_list(store, "Reading")
    wanted = SaveActions(tags=("#ports",), archive=True, keep_pictures="none", lists=("reading",))
    store.items.set_metadata(items[0].id, NOW, tags=("Ports",))
    trial = save_rules.try_rule(store, "page", wanted)
    assert trial.count == 3
    changes = {effect.item.title: effect.changes for effect in trial.effects}
    assert changes["Page 0"] == ("archive", "keep no pictures", "add to the list Reading")
    assert changes["Page 1"] == ("add the tag ports", *changes["Page 0"])
    rule = save_rules.add_rule(store, "", "page", wanted)
    assert (rule.name, rule.enabled, rule.actions.lists) == ("page", False, (reading.id,))
    done = save_rules.apply_rule(store, rule.id)
    assert done.action.changed == 3
    assert wanted_sources(store.items.get(items[1].id), Settings(keep_pictures="all")) == []
    second = save_rules.add_rule(store, "Second", "other", SaveActions(pin=True))
    assert [one.name for one in save_rules.move_rule(store, second.id, -1)] == ["Second", "page"]
    for query, nothing in (("", wanted), ("page", SaveActions()), ("is:nonsense", wanted)):
        with pytest.raises(InvalidQuery):
            save_rules.add_rule(store, "x", query, nothing)


def test_tags_are_suggested_from_the_library_and_refused_ones_stay_away(store: Store) -> None:
    for number in range(3):
        store.items.save(make_item(number, domain="ports.example", tags=["Quay"], quality="article"), None)
    store.items.save(make_item(8, domain="other.example", tags=["wooden boat"], quality="article"), None)
    item = store.items.save(
        make_item(
            9,
            title="A wooden boat",
            domain="ports.example",
            quality="article",
            suggested_tags=["sea", "quay"],
            saved_at=moment(1_000),
        ),
        None,
    )
    assert tags.suggest_tags(store, item) == ("quay", "wooden boat", "sea")
    (item,) = tags.refuse_tags(store, item.id, ("Sea",)).items
    (item,) = tags.accept_tags(store, item.id, ("quay",)).items
    assert tags.suggest_tags(store, item) == ("wooden boat",)
    assert item.metadata.open_suggestions == ()
    store.items.save(make_item(9, title="A wooden boat", domain="ports.example", suggested_tags=["sea"]), None)
    assert tags.suggest_tags(store, store.items.get(item.id)) == ("wooden boat",)
    assert [row.item.id for row in tags.list_suggestions(store).rows][:1] == [item.id]


def test_many_pages_are_extracted_again_and_it_is_undone(store: Store) -> None:
    body = article(600, "New words").encode()
    item = store.items.save(make_item(1, title="Old", content="Old text.", quality="article"), make_raw(body))
    done = change.reparse_selected(store, [item.id], "Extracted again")
    run(store, done.job)
    assert store.items.get(item.id).title == "New words"
    assert change.undo_whole(store, done.action.id).undone == 1
    assert (store.items.get(item.id).title, store.items.get(item.id).content) == ("Old", item.content)
