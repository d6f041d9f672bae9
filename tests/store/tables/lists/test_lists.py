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
    return library.items.save(make_item(number, user_id=library.user_id, **fields), make_raw())


def add_list(library: Store, name: str, query: str = "") -> ItemList:
    kind = "search" if query else "manual"
    return library.lists.add(ItemList(str(uuid.uuid4()), name, kind, query, NOW, NOW))


def change(library: Store, ids: Sequence[str], now: str = moment(700), **fields: Any) -> str:
    action = str(uuid.uuid4())
    library.actions.add(action, "Changed", now)
    library.actions.change(action, ids, ItemChange(**fields), now)
    return action


def undo(library: Store, action: str, now: str = moment(800)) -> UndoResult:
    return library.actions.undo(action, 100, now)


def titles(library: Store, query: str) -> list[str]:
    return sorted(item.title for item in library.search.find(parse_query(query)).items)


def order(library: Store, one: ItemList) -> str:
    return "".join(item.title for item in library.lists.page(one.id).items)


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
        library.lists.move(reading.id, ids[title], None)
    assert order(library, reading) == "abcde"
    for _ in range(4):
        library.lists.move(reading.id, ids["e"], ids["b"])
        library.lists.move(reading.id, ids["d"], ids["b"])
        library.lists.move(reading.id, ids["a"], ids["d"])
    assert order(library, reading) == "eadbc"
    first = library.lists.page(reading.id, 2)
    rest = library.lists.page(reading.id, 3, first.next)
    assert ["".join(item.title for item in page.items) for page in (first, rest)] == ["ea", "dbc"]
    assert rest.next is None
    library.items.delete(ids["d"], NOW)
    assert order(library, reading) == "eabc"
    assert library.lists.counts(3) == {reading.id: 3}
    with pytest.raises(NotFound):
        library.lists.move(reading.id, str(uuid.uuid4()), None)


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
    assert library.search.matches(letters[0].id, parse_query("list:both"))
    assert library.search.count(parse_query('list:"to read"').filters) == 2
    change(library, [letters[1].id], add_tags=("vowel",))
    assert titles(library, "list:vowels") == ["a", "b", "e"]
    library.lists.change(vowels.id, NOW, query="list:both")
    for wrong in ("list:nothing", "list:both", "-list:both"):
        with pytest.raises(InvalidQuery):
            library.search.find(parse_query(wrong))


def test_names_of_lists_are_taken_once(library: Store) -> None:
    one = add_list(library, "Reading")
    with pytest.raises(Conflict):
        add_list(library, "READING")
    other = add_list(library, "Other")
    with pytest.raises(Conflict):
        library.lists.change(other.id, NOW, name="reading")
    assert library.lists.change(one.id, NOW, name="Réading").name == "Réading"
    assert [each.name for each in library.lists.list()] == ["Other", "Réading"]
    assert library.lists.get("reading").id == one.id
    library.lists.remove(one.id)
    with pytest.raises(NotFound):
        library.lists.page(one.id)


def test_what_a_user_edits_survives_every_new_version_and_can_be_taken_back(library: Store) -> None:
    item = put(library, 1, title="Page", author="Writer", site_name="Site", published_at="2024-01-01")
    values = {"title": "Mine", "author": None, "published_at": "2020-02-02", "site_name": "Harbour"}
    change(library, [item.id], edits=values)
    item = library.items.get(item.id)
    assert (item.title, item.author, item.published_at, item.metadata.site_name) == tuple(values.values())
    assert titles(library, "mine harbour") == ["Mine"]
    assert titles(library, "page") == []
    put(library, 1, title="Page two", author="Writer", site_name="Site", content="New words.")
    newer = make_item(1, title="Page three", author="W", site_name="Other")
    library.items.replace_content(
        item.id,
        content="Newer words.",
        title=newer.title,
        author=newer.author,
        published_at=None,
        metadata=newer.metadata,
        now=NOW,
    )
    item = library.items.get(item.id)
    assert (item.title, item.author, item.published_at, item.metadata.site_name) == tuple(values.values())
    assert item.content == "Newer words."
    assert page_values(item) == {"title": "Page three", "author": "W", "published_at": None, "site_name": "Other"}
    change(library, [item.id], reset=("title", "site_name"))
    item = library.items.get(item.id)
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
    assert library.actions.get(first).changed == 5
    assert library.actions.list()[0].changed == 1
    assert undo(library, second) == UndoResult(2, 0, 0)
    assert order(library, reading) == "abcde"
    assert {library.items.get(one).metadata.tags for one in ids} == {("x",)}
    assert undo(library, first) == UndoResult(4, 1, 0)
    assert order(library, reading) == ""
    items = [library.items.get(one) for one in ids]
    assert {(item.metadata.tags, item.author, item.metadata.edits) for item in items} == {((), None, None)}
    assert [item.metadata.archived for item in items] == [None, None, None, None, False]
    assert undo(library, first) == UndoResult(0, 0, 0)


def test_an_action_over_many_items_goes_on_where_it_stopped(library: Store, letters: list[Item]) -> None:
    action = str(uuid.uuid4())
    library.actions.add(action, "Tagged", NOW)
    library.actions.add_waiting(action, [*(item.id for item in letters), str(uuid.uuid4())])
    part = library.actions.waiting_items(action, 3)
    library.actions.change(action, part, ItemChange(add_tags=("x",)), NOW)
    assert (len(part), library.actions.get(action).waiting) == (3, 3)
    rest = library.actions.waiting_items(action, 10)
    assert not set(rest) & set(part)
    library.actions.change(action, rest, ItemChange(add_tags=("x",)), NOW)
    found = library.actions.get(action)
    assert (found.changed, found.waiting) == (5, 0)
    assert library.actions.undo(action, 2, NOW) == UndoResult(2, 0, 3)
    assert library.actions.undo(action, 10, NOW) == UndoResult(3, 0, 0)
    assert library.actions.get(action).undone_at == NOW


def test_a_new_extraction_is_undone_unless_the_text_changed_again(library: Store, letters: list[Item]) -> None:
    action = str(uuid.uuid4())
    library.actions.add(action, "Extracted again", NOW)
    for item in letters[:2]:
        library.items.replace_content(
            item.id, content="New.", title="New", author=None, published_at=None, metadata=item.metadata, now=NOW
        )
        library.actions.record_reparse(action, item.id, item)
    put(library, 1, title="Newest", content="Newest words.")
    assert undo(library, action) == UndoResult(1, 1, 0)
    assert library.items.get(letters[0].id).content == letters[0].content
    assert [library.items.get(item.id).title for item in letters[:2]] == ["a", "Newest"]
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
        library.save_rules.put(one)
    item = put(library, 1, content="The harbour.")
    assert item.metadata.tags == ("Ports", "later")
    assert (item.metadata.archived, item.metadata.keep_pictures) == (True, "none")
    assert library.items.get(item.id) == item
    assert titles(library, "list:reading tag:later") == ["A title"]
    library.items.set_metadata(item.id, NOW, tags=())
    assert put(library, 1, content="The harbour again.").metadata.tags == ()
    assert put(library, 2, content="The sea.").metadata.tags == ()
    batch = [NewItem(make_item(number, user_id=library.user_id, content="A harbour.")) for number in (1, 3)]
    (old, _), (new, result) = library.items.save_many(batch, lambda old, _new: old)
    assert (old.metadata.tags, new.metadata.tags, result) == ((), ("Ports", "later"), "added")
    assert library.save_rules.list()[-1].name == "second"


def test_save_rules_wait_for_the_words_of_a_page_that_was_not_fetched(library: Store) -> None:
    library.save_rules.put(rule("site", "domain:example.com", tags=("site",)))
    library.save_rules.put(rule("words", "harbour", position=2, tags=("words",)))
    item = put(library, 1, content="", quality="bookmark")
    assert item.metadata.tags == ("site",)
    library.items.set_metadata(item.id, NOW, tags=())
    item = put(library, 1, content="The harbour.", quality="article", content_hash="x")
    assert item.metadata.tags == ("words",)


def test_users_see_their_own_lists_rules_and_actions(
    library: Store, opened: Callable[..., Store], letters: list[Item]
) -> None:
    reading = add_list(library, "Reading")
    library.save_rules.put(rule("mine", "", tags=("mine",)))
    action = change(library, [letters[0].id], add_to=(reading.id,), add_tags=("x",))
    other = opened(f"user-{uuid.uuid4()}")
    assert (other.lists.list(), other.save_rules.list(), other.actions.list()) == ((), (), ())
    assert other.lists.of_item(letters[0].id) == ()
    for call in (
        lambda: other.lists.page(reading.id),
        lambda: other.actions.undo(action, 10, NOW),
        lambda: other.lists.remove(reading.id),
        lambda: other.lists.move(reading.id, letters[0].id, None),
    ):
        with pytest.raises(NotFound):
            call()
    mine = str(uuid.uuid4())
    other.actions.add(mine, "Mine", NOW)
    assert other.actions.change(mine, [letters[1].id], ItemChange(deleted=True, add_to=(reading.id,)), NOW) == ()
    assert put(other, 9).metadata.tags == ()
    assert order(library, reading) == "a"
    assert [one.name for one in library.lists.of_item(letters[0].id)] == ["Reading"]


def test_a_backup_keeps_lists_and_save_rules(library: Store, letters: list[Item], tmp_path: Path) -> None:
    reading = add_list(library, "Reading")
    change(library, [letters[2].id, letters[0].id], add_to=(reading.id,))
    library.save_rules.put(rule("mine", "harbour", tags=("mine",)))
    folder = tmp_path / "backup"
    report = library.backup_folder(folder, NOW, {})
    assert report
    target = open_store(tmp_path / "restored.db", library.user_id)
    try:
        state = json.loads(next((folder / "states").glob("*.json")).read_text("utf-8"))["state"]
        target.restore_folder(folder, state)
        assert (target.lists.list(), target.save_rules.list()) == (library.lists.list(), library.save_rules.list())
        assert order(target, reading) == order(library, reading)
    finally:
        target.close()


def test_a_purged_item_leaves_its_lists(library: Store, letters: list[Item]) -> None:
    reading = add_list(library, "Reading")
    action = change(library, [letters[0].id, letters[1].id], add_to=(reading.id,))
    library.items.delete(letters[0].id, NOW)
    library.items.purge([letters[0].id])
    assert library.lists.counts(10) == {reading.id: 1}
    assert undo(library, action) == UndoResult(1, 1, 0)
