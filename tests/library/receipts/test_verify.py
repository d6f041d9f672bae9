"""Receipts: a verdict claims what was compared, and no more."""

from __future__ import annotations

import random
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from pagekeep.errors import FetchTimeout, Outdated
from pagekeep.library.archive.receipts import Verdict
from pagekeep.library.imports.build import merge_items
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.library.verify import select, verify
from pagekeep.model import PARSER_VERSION, Change, Item, NewItem, Retention
from pagekeep.present.item_content import shown_content
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import HostTrigger, Rule, Trigger
from pagekeep.store import Store
from tests.hostile import receipt_mutations, verify_histories
from tests.library.receipts.making import RULES, flip, keep, keep_file, page
from tests.site.fixtures import WALL
from tests.store.making import NOW, Server, make_item, make_raw


def verdicts(library: Store, *keys: str, rules: Rulebook = RULES) -> dict[str, Verdict]:
    return {verdict.item_id: verdict for verdict in verify(library, select(library, keys), rules)}


def only(library: Store, item: Item, rules: Rulebook = RULES) -> Verdict:
    return verdicts(library, item.id, rules=rules)[item.id]


def rewrite(library: Store, item: Item, content: str, **metadata: Any) -> None:
    library.items.replace_content(
        item.id,
        content=content,
        title=item.title,
        author=item.author,
        published_at=item.published_at,
        metadata=replace(item.metadata, **metadata),
        now=NOW,
    )


def test_saved_page_is_verified_to_its_frontmatter(library: Store) -> None:
    item = keep(library, 1)
    assert only(library, item) == Verdict(
        item.id, item.url, item.title, "verified", ("raw_page", "text", "markdown", "frontmatter")
    )


def test_all_items_are_verified_deleted_ones_too(library: Store) -> None:
    ids = {keep(library, number).id for number in range(20)}
    library.items.delete(next(iter(ids)), NOW)
    found = verdicts(library)
    assert found.keys() == ids
    assert {verdict.state for verdict in found.values()} == {"verified"}


def test_every_flipped_byte_is_found(library: Store, where: str) -> None:
    dice, items = random.Random(7), [keep(library, number) for number in range(20)]
    for number, item in enumerate(items[:18]):
        flip(where, library.user_id, item.id, "raw" if number % 2 else "text", dice)
    found = verdicts(library)
    assert [found[item.id].state for item in items] == ["damaged"] * 18 + ["verified"] * 2
    assert [found[item.id].reason for item in items[:4]] == ["text", "raw_page"] * 2


def test_damage_of_kept_files_is_found(library: Store, where: str) -> None:
    items = [keep(library, number) for number in range(3)]
    for item in items:
        keep_file(library, item)
    assert all("files" in verdict.compared for verdict in verdicts(library).values())
    flip(where, library.user_id, items[0].id, "blob", random.Random(1))
    found = verdicts(library)
    assert [found[item.id].state for item in items] == ["damaged", "verified", "verified"]
    assert found[items[0].id].reason == "file"


def test_text_of_an_older_parser_is_not_derived_and_says_what_to_do(library: Store) -> None:
    item = keep(library, 1)
    rewrite(library, item, item.content, parser_version=PARSER_VERSION - 1)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason, verdict.compared) == ("unproven", "older_parser", ("raw_page", "text"))
    assert "reparse" in (verdict.message or "")


def test_edited_text_is_compared_with_its_hash_only(library: Store) -> None:
    item = keep(library, 1)
    rewrite(library, item, "My own words.", edited=True)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason, verdict.compared) == ("unproven", "edited", ("raw_page", "text"))


def test_item_without_a_raw_page_is_compared_with_its_hash_only(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason, verdict.compared) == ("unproven", "no_raw_page", ("text",))


def test_other_rules_that_give_the_same_text_are_mentioned(library: Store) -> None:
    item = keep(library, 1, rules_hash="0123456789abcdef")
    verdict = only(library, item)
    assert (verdict.state, verdict.compared[-1]) == ("verified", "frontmatter")
    assert "Other rules" in (verdict.message or "")


def test_other_rules_that_give_another_text_prove_nothing(library: Store) -> None:
    item = keep(library, 1)
    rule = Rule("no-first", "pre", trigger=Trigger(host=HostTrigger(equals=("harbour.example",))), remove=("p + p",))
    verdict = only(library, item, Rulebook((rule,)))
    assert (verdict.state, verdict.reason) == ("unproven", "other_rules")


def test_another_text_from_the_same_page_is_reported(library: Store) -> None:
    item = keep(library, 1)
    rewrite(library, item, "Other words.", content_hash="0" * 64)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason) == ("differs", "another_text")


def test_author_that_came_with_an_import_is_not_proven(library: Store) -> None:
    item = receipt_mutations.keep_import(library, 1, author="The importer")
    verdict = only(library, item, receipt_mutations.RULES)
    assert (verdict.state, verdict.reason) == ("unproven", "not_from_page")
    assert verdict.compared == ("raw_page", "text", "markdown")
    assert "cannot be proven" in (verdict.message or "")


def test_author_that_neither_page_nor_import_gives_is_damage(library: Store) -> None:
    item = keep(library, 1)
    rewrite(library, item, item.content.replace("author: Ada Reed", "author: A forger", 1))
    assert (only(library, item).state, only(library, item).reason) == ("damaged", "text")


@pytest.mark.parametrize("has_hash", [True, False])
def test_invented_paragraph_above_the_text_is_damage(library: Store, where: str, has_hash: bool) -> None:
    item = keep(library, 1)
    text = item.content.replace("\n---\n\n", "\n---\n\nThe mayor has resigned.\n\n", 1)
    rewrite(library, item, text)
    if not has_hash:
        receipt_mutations.write(where, {item.id: (text, {"text_hash": None})}, library.user_id)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason) == ("damaged", "text")
    assert "markdown" not in verdict.compared


def test_receipt_without_its_hash_of_the_text_proves_nothing(library: Store, where: str) -> None:
    item = keep(library, 1)
    receipt_mutations.write(where, {item.id: (item.content, {"text_hash": None})}, library.user_id)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason) == ("unproven", "incomplete_receipt")
    assert "text_hash" in (verdict.message or "")


def test_text_that_is_older_than_its_item_by_an_import_is_not_damage(library: Store) -> None:
    item = keep(library, 1)
    receipt_mutations.import_earlier(library, item)
    verdict = only(library, item)
    assert (verdict.state, verdict.reason) == ("unproven", "not_from_page")
    assert "2019-01-01" in (verdict.message or "")


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_forged_receipts_are_found_and_sound_ones_are_not(engine: str, server: Server, tmp_path: Path) -> None:
    where = str(tmp_path / "forged.db") if engine == "sqlite" else server.app
    assert receipt_mutations.attack(where, 200) == []


def test_raw_page_of_another_save_is_recognised(library: Store) -> None:
    item = keep(library, 1)
    library.items.save(replace(item, metadata=replace(item.metadata, raw_hash="0" * 64)), make_raw(b"<p>Another page."))
    assert only(library, item).reason == "raw_page"


def test_page_that_cannot_be_extracted_is_a_separate_failure(library: Store) -> None:
    item = keep(library, 1)
    rewrite(library, item, item.content, options={"max_bytes": 10})
    verdict = only(library, item)
    assert (verdict.state, verdict.reason) == ("failed", "extraction")


def test_second_failure_of_a_save_is_not_damage(library: Store) -> None:
    """The text of a page that was never fetched has what is known about it, and none of our sentences."""
    address = "https://harbour.example/slow"
    keep_address(library, address, FetchTimeout("The page did not answer within 1 second."))
    (first,) = verdicts(library).values()
    keep_address(library, address, FetchTimeout("The page did not answer within 30 seconds."), tags=("later",))
    (second,) = verdicts(library).values()
    assert (second.state, second.compared) == (first.state, first.compared) == ("unproven", ("text",))
    item = library.items.get(second.item_id)
    assert item.metadata.reason == "The page did not answer within 30 seconds."
    assert "seconds" in shown_content(item)
    assert "second" not in item.content


def test_imported_text_does_not_stay_with_the_raw_page_of_a_wall(library: Store) -> None:
    """An export in JSON has no raw page: the one that the library has of a wall is not the page of the imported text."""
    article = keep(library, 1)
    library.items.delete(article.id, NOW)
    library.items.purge()
    wall = keep(library, 1, WALL.encode())
    assert (wall.metadata.quality, library.items.raw(wall.id) is not None) == ("bookmark", True)
    ((merged, outcome),) = library.items.save_many([NewItem(article)], merge_items)
    assert (outcome, merged.content, library.items.raw(wall.id)) == ("updated", article.content, None)
    assert only(library, wall).reason == "no_raw_page"


def test_edit_that_is_given_up_does_not_blame_a_newer_raw_page(library: Store) -> None:
    """A watched page gets new versions while the user's own text stays."""
    item = keep(library, 1)
    rewrite(library, item, "My own words.", edited=True)
    schedule = library.schedules.put("watch", item.id, item.url, 60, NOW, NOW)
    change = Change(str(uuid4()), item.id, 1, 0, 1, 1, "", NOW)
    edited = library.items.get(item.id)
    newer = replace(make_raw(page(2)), fetched_at=NOW)
    assert library.changes.add(schedule.id, {}, edited, newer, change, retention=Retention()) is not None
    library.items.set_metadata(item.id, NOW, edited=False, parser_version=None)  # as the mirror does
    assert only(library, item).state == "unproven"


def test_undo_does_not_bring_back_the_text_of_another_raw_page(library: Store) -> None:
    before = keep(library, 1)
    action = str(uuid4())
    library.actions.add(action, "Extracted again", NOW)
    rewrite(library, before, "Other words.")
    library.actions.record_reparse(action, before.id, before)
    now = library.items.get(before.id)
    raw = make_raw(b"<p>Another page.")
    library.items.save(replace(now, metadata=replace(now.metadata, raw_hash=sha256(raw.body).hexdigest())), raw)
    assert library.actions.undo(action, 10, NOW).kept == 1
    assert only(library, before).reason != "raw_page"


def test_item_that_changes_while_it_is_read_is_read_again(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    item, read = keep(library, 1), library.items.raw_hash
    bodies = [page(2)]

    def save_meanwhile(item_id: str) -> str | None:
        if bodies:
            keep(library, 1, bodies.pop())
        return read(item_id)

    monkeypatch.setattr(library.items, "raw_hash", save_meanwhile)
    assert only(library, item).state == "verified"
    assert not bodies


def test_same_page_that_is_stored_after_a_newer_version_keeps_its_raw_page(library: Store) -> None:
    """Two fetches at once: the one that found nothing new is stored last."""
    before = keep(library, 1)
    raw = library.items.raw(before.id)
    assert raw is not None
    keep(library, 1, page(2))
    library.items.save(before, replace(raw, body=page(1) + b"<!-- noise -->"), versions="keep")
    assert only(library, before).state == "verified"


def test_page_that_was_fetched_while_it_was_extracted_again_stays(library: Store) -> None:
    item = keep(library, 1)
    raw = library.items.raw(item.id)
    assert raw is not None
    newer = replace(raw, body=page(1) + b"<!-- noise -->")
    now = replace(item, metadata=replace(item.metadata, raw_hash=sha256(newer.body).hexdigest()))
    library.items.save(now, newer)
    with pytest.raises(Outdated):
        library.items.replace_content(
            item.id, content="Older words.", title="", author=None, published_at=None, metadata=item.metadata, now=NOW,
            replaces=item.content,
        )  # fmt: skip
    assert only(library, item).state == "verified"


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_random_histories_leave_nothing_but_the_damage_of_the_test(engine: str, server: Server, tmp_path: Path) -> None:
    where = str(tmp_path / "histories.db") if engine == "sqlite" else server.app
    assert verify_histories.attack(where, 30) == []
