"""Lists, save rules and actions, on both engines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pagekeep.errors import Conflict, InvalidQuery, NotFound
from pagekeep.model import Item, NewItem
from pagekeep.model.lists import ItemChange, ItemList, SaveActions, SaveRule, UndoResult, edited_fields, page_values
from pagekeep.store import Store, open_store, parse_query
from pagekeep.store.tables import lists as module
from tests.store.making import NOW, make_item, make_raw, moment


def put(library: Store, number: int, **fields: Any) -> Item:
    return library.upsert(make_item(number, user_id=library.user_id, **fields), make_raw())


def add_list(library: Store, name: str, query: str = "") -> ItemList:
    kind = "search" if query else "manual"
    return library.add_list(ItemList(str(uuid.uuid4()), name, kind, query, NOW, NOW))


def change(library: Store, ids: Sequence[str], now: str = moment(700), **fields: Any) -> str:
    action = str(uuid.uuid4())
    library.add_action(action, "Changed", now)
    library.change_items(action, ids, ItemChange(**fields), now)
    return action


def undo(library: Store, action: str, now: str = moment(800)) -> UndoResult:
    return library.undo_items(action, 100, now)


def titles(library: Store, query: str) -> list[str]:
    return sorted(item.title for item in library.find(parse_query(query)).items)


def order(library: Store, one: ItemList) -> str:
    return "".join(item.title for item in library.list_page(one.id).items)


@pytest.fixture
def letters(library: Store) -> list[Item]:
    return [put(library, number, title=title) for number, title in enumerate("abcde")]


def test_a_manual_list_keeps_the_order_the_user_gave_it(
    library: Store, letters: list[Item], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_GAP", 4)  # the places between two items are soon used up
    reading = add_list(library, "To read")
    change(library, [item.id for item in reversed(letters)], add_to=(reading.id,))
    ids = {item.title: item.id for item in letters}
    for title in "abcde":
        library.move_in_list(reading.id, ids[title], None)
    assert order(library, reading) == "abcde"
    for _ in range(4):
        library.move_in_list(reading.id, ids["e"], ids["b"])
        library.move_in_list(reading.id, ids["d"], ids["b"])
        library.move_in_list(reading.id, ids["a"], ids["d"])
    assert order(library, reading) == "eadbc"
    first = library.list_page(reading.id, 2)
    rest = library.list_page(reading.id, 3, first.next)
    assert ["".join(item.title for item in page.items) for page in (first, rest)] == ["ea", "dbc"]
    assert rest.next is None
    library.delete(ids["d"], NOW)
    assert order(library, reading) == "eabc"
    assert library.list_counts(3) == {reading.id: 3}
    with pytest.raises(NotFound):
        library.move_in_list(reading.id, str(uuid.uuid4()), None)


def test_lists_are_searched_by_name_and_saved_searches_stay_up_to_date(library: Store, letters: list[Item]) -> None:
    reading, vowels = add_list(library, "To Réad"), add_list(library, "Vowels", "tag:vowel")
    add_list(library, "Both", "list:vowels a*")
    change(library, [letters[0].id, letters[1].id], add_to=(reading.id,))
    change(library, [letters[0].id, letters[4].id], add_tags=("vowel",))
    assert titles(library, 'list:"to read"') == ["a", "b"]
    assert titles(library, 'list:"to read" list:vowels') == ["a"]
    assert titles(library, 'list:vowels -list:"to read"') == ["e"]
    assert titles(library, "list:both") == ["a"]
    assert titles(library, f"list:{vowels.id}") == ["a", "e"]
    assert library.matches(letters[0].id, parse_query("list:both"))
    assert library.count(parse_query('list:"to read"').filters) == 2
    change(library, [letters[1].id], add_tags=("vowel",))
    assert titles(library, "list:vowels") == ["a", "b", "e"]
    library.change_list(vowels.id, NOW, query="list:both")
    for wrong in ("list:nothing", "list:both", "-list:both"):
        with pytest.raises(InvalidQuery):
            library.find(parse_query(wrong))


def test_names_of_lists_are_taken_once(library: Store) -> None:
    one = add_list(library, "Reading")
    with pytest.raises(Conflict):
        add_list(library, "READING")
    other = add_list(library, "Other")
    with pytest.raises(Conflict):
        library.change_list(other.id, NOW, name="reading")
    assert library.change_list(one.id, NOW, name="Réading").name == "Réading"
    assert [each.name for each in library.lists()] == ["Other", "Réading"]
    assert library.list_named("reading").id == one.id
    library.remove_list(one.id)
    with pytest.raises(NotFound):
        library.list_page(one.id)


def test_what_a_user_edits_survives_every_new_version_and_can_be_taken_back(library: Store) -> None:
    item = put(library, 1, title="Page", author="Writer", site_name="Site", published_at="2024-01-01")
    values = {"title": "Mine", "author": None, "published_at": "2020-02-02", "site_name": "Harbour"}
    change(library, [item.id], edits=values)
    item = library.get(item.id)
    assert (item.title, item.author, item.published_at, item.metadata.site_name) == tuple(values.values())
    assert titles(library, "mine harbour") == ["Mine"]
    assert titles(library, "page") == []
    put(library, 1, title="Page two", author="Writer", site_name="Site", content="New words.")
    newer = make_item(1, title="Page three", author="W", site_name="Other")
    library.replace_content(
        item.id,
        content="Newer words.",
        title=newer.title,
        author=newer.author,
        published_at=None,
        metadata=newer.metadata,
        now=NOW,
    )
    item = library.get(item.id)
    assert (item.title, item.author, item.published_at, item.metadata.site_name) == tuple(values.values())
    assert item.content == "Newer words."
    assert page_values(item) == {"title": "Page three", "author": "W", "published_at": None, "site_name": "Other"}
    change(library, [item.id], reset=("title", "site_name"))
    item = library.get(item.id)
    assert (item.title, item.metadata.site_name, edited_fields(item)) == (
        "Page three",
        "Other",
        ("author", "published_at"),
    )
    assert titles(library, "page three") == ["Page three"]
    assert titles(library, "harbour") == []


def test_an_action_is_undone_where_nothing_else_changed_the_same(library: Store, letters: list[Item]) -> None:
    ids = [item.id for item in letters]
    reading = add_list(library, "Reading")
    first = change(library, ids, add_tags=("x",), archived=True, add_to=(reading.id,), edits={"author": "Me"})
    second = change(library, ids[:2], now=moment(710), deleted=True, remove_from=(reading.id,), add_tags=("y",))
    change(library, ids[4:], now=moment(720), archived=False)
    assert library.action(first).changed == 5
    assert library.actions()[0].changed == 1
    assert undo(library, second) == UndoResult(2, 0, 0)
    assert order(library, reading) == "abcde"
    assert {library.get(one).metadata.tags for one in ids} == {("x",)}
    assert undo(library, first) == UndoResult(4, 1, 0)
    assert order(library, reading) == ""
    items = [library.get(one) for one in ids]
    assert {(item.metadata.tags, item.author, item.metadata.edits) for item in items} == {((), None, None)}
    assert [item.metadata.archived for item in items] == [None, None, None, None, False]
    assert undo(library, first) == UndoResult(0, 0, 0)


def test_an_action_over_many_items_goes_on_where_it_stopped(library: Store, letters: list[Item]) -> None:
    action = str(uuid.uuid4())
    library.add_action(action, "Tagged", NOW)
    library.add_waiting(action, [*(item.id for item in letters), str(uuid.uuid4())])
    part = library.waiting_items(action, 3)
    library.change_items(action, part, ItemChange(add_tags=("x",)), NOW)
    assert (len(part), library.action(action).waiting) == (3, 3)
    rest = library.waiting_items(action, 10)
    assert not set(rest) & set(part)
    library.change_items(action, rest, ItemChange(add_tags=("x",)), NOW)
    found = library.action(action)
    assert (found.changed, found.waiting) == (5, 0)
    assert library.undo_items(action, 2, NOW) == UndoResult(2, 0, 3)
    assert library.undo_items(action, 10, NOW) == UndoResult(3, 0, 0)
    assert library.action(action).undone_at == NOW


def test_a_new_extraction_is_undone_unless_the_text_changed_again(library: Store, letters: list[Item]) -> None:
    action = str(uuid.uuid4())
    library.add_action(action, "Extracted again", NOW)
    for item in letters[:2]:
        library.replace_content(
            item.id, content="New.", title="New", author=None, published_at=None, metadata=item.metadata, now=NOW
        )
        library.record_reparse(action, item.id, item)
    put(library, 1, title="Newest", content="Newest words.")
    assert undo(library, action) == UndoResult(1, 1, 0)
    assert library.get(letters[0].id).content == letters[0].content
    assert [library.get(item.id).title for item in letters[:2]] == ["a", "Newest"]
    assert library.check() == []


def rule(name: str, query: str, *, position: int = 1, enabled: bool = True, **actions: Any) -> SaveRule:
    return SaveRule(str(uuid.uuid4()), name, query, SaveActions(**actions), enabled, position, NOW, NOW)


def test_save_rules_apply_once_to_new_items_in_their_order(library: Store) -> None:
    reading = add_list(library, "Reading")
    rules = [
        rule("second", "tag:ports", position=2, tags=("later",), lists=(reading.id,)),
        rule("first", "domain:example.com harbour", tags=("Ports",), archive=True, keep_pictures="none"),
        rule("off", "", enabled=False, tags=("never",)),
        rule("gone", "list:nothing", tags=("never",)),
    ]
    for one in rules:
        library.put_save_rule(one)
    item = put(library, 1, content="The harbour.")
    assert item.metadata.tags == ("Ports", "later")
    assert (item.metadata.archived, item.metadata.keep_pictures) == (True, "none")
    assert library.get(item.id) == item
    assert titles(library, "list:reading tag:later") == ["A title"]
    library.set_metadata(item.id, NOW, tags=())
    assert put(library, 1, content="The harbour again.").metadata.tags == ()
    assert put(library, 2, content="The sea.").metadata.tags == ()
    batch = [NewItem(make_item(number, user_id=library.user_id, content="A harbour.")) for number in (1, 3)]
    (old, _), (new, result) = library.upsert_many(batch, lambda old, _new: old)
    assert (old.metadata.tags, new.metadata.tags, result) == ((), ("Ports", "later"), "added")
    assert library.save_rules()[-1].name == "second"


def test_save_rules_wait_for_the_words_of_a_page_that_was_not_fetched(library: Store) -> None:
    library.put_save_rule(rule("site", "domain:example.com", tags=("site",)))
    library.put_save_rule(rule("words", "harbour", position=2, tags=("words",)))
    item = put(library, 1, content="", quality="bookmark")
    assert item.metadata.tags == ("site",)
    library.set_metadata(item.id, NOW, tags=())
    item = put(library, 1, content="The harbour.", quality="article", content_hash="x")
    assert item.metadata.tags == ("words",)


def test_users_see_their_own_lists_rules_and_actions(
    library: Store, opened: Callable[..., Store], letters: list[Item]
) -> None:
    reading = add_list(library, "Reading")
    library.put_save_rule(rule("mine", "", tags=("mine",)))
    action = change(library, [letters[0].id], add_to=(reading.id,), add_tags=("x",))
    other = opened(f"user-{uuid.uuid4()}")
    assert (other.lists(), other.save_rules(), other.actions()) == ((), (), ())
    assert other.lists_of(letters[0].id) == ()
    for call in (
        lambda: other.list_page(reading.id),
        lambda: other.undo_items(action, 10, NOW),
        lambda: other.remove_list(reading.id),
        lambda: other.move_in_list(reading.id, letters[0].id, None),
    ):
        with pytest.raises(NotFound):
            call()
    mine = str(uuid.uuid4())
    other.add_action(mine, "Mine", NOW)
    assert other.change_items(mine, [letters[1].id], ItemChange(deleted=True, add_to=(reading.id,)), NOW) == ()
    assert put(other, 9).metadata.tags == ()
    assert order(library, reading) == "a"
    assert [one.name for one in library.lists_of(letters[0].id)] == ["Reading"]


def test_a_backup_keeps_lists_and_save_rules(library: Store, letters: list[Item], tmp_path: Path) -> None:
    reading = add_list(library, "Reading")
    change(library, [letters[2].id, letters[0].id], add_to=(reading.id,))
    library.put_save_rule(rule("mine", "harbour", tags=("mine",)))
    folder = tmp_path / "backup"
    report = library.backup_folder(folder, NOW, {})
    assert report
    target = open_store(tmp_path / "restored.db", library.user_id)
    try:
        state = json.loads(next((folder / "states").glob("*.json")).read_text("utf-8"))["state"]
        target.restore_folder(folder, state)
        assert (target.lists(), target.save_rules()) == (library.lists(), library.save_rules())
        assert order(target, reading) == order(library, reading)
    finally:
        target.close()


def test_a_purged_item_leaves_its_lists(library: Store, letters: list[Item]) -> None:
    reading = add_list(library, "Reading")
    action = change(library, [letters[0].id, letters[1].id], add_to=(reading.id,))
    library.delete(letters[0].id, NOW)
    library.purge([letters[0].id])
    assert library.list_counts(10) == {reading.id: 1}
    assert undo(library, action) == UndoResult(1, 1, 0)
