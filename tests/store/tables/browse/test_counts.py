"""Counts of items: always what a fresh count gives, whatever happened."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep.model import Item, ItemQuery, NewItem, item_filters
from pagekeep.model.tags import tag_key
from pagekeep.store import Store, open_store
from pagekeep.store.salvage import salvage
from tests.store.conftest import Opener
from tests.store.making import make_item, moment

_TAGS = ("Minecraft", "minecraft", "sea", "Müll", "tide clocks")
_AUTHORS = (None, "Ada", " Ada ", "Čapek", "x" * 300, "")
_LANGUAGES = ("en", "en-GB", "DE_at", "klingon", "", 7, "yue-Hant")
_SITES = ("tide.example", "sea.example", "")
_MONTHS = ("2025-03", "2024-12")


def _count(library: Store) -> dict[tuple[str, str], int]:
    """Count again, in Python, without the database's own view."""
    found: Counter[tuple[str, str]] = Counter()
    live = _all(library, deleted=False)
    states = library.reading.get_many([item.id for item in live])
    for item in live:
        about, state = item.metadata, states.get(item.id)
        read = state.state if state else "unread"
        keys = [("state", "all"), ("state", "archive" if about.archived else "inbox"), ("saved", item.saved_at[:7])]
        keys += [("state", "pinned")] * bool(about.pinned)
        keys += [("state", read)] if read != "unread" or not about.archived else []
        keys += [("site", item.domain)] if item.domain else []
        keys += [("author", author)] if (author := (item.author or "").strip()[:200]) else []
        keys += [("quality", about.quality)] if about.quality else []
        keys += [("tag", key) for key in {tag_key(tag) for tag in about.tags}]
        language = about.language or ""
        primary = language.replace("_", "-").partition("-")[0].lower()
        keys += [("language", primary)] if len(primary) in (2, 3) and primary.isalpha() else []
        found.update(keys)
        words = about.word_count or 0
        found["words_saved", item.saved_at[:7]] += words
        if state and state.state == "read" and state.read_at:
            found["read", state.read_at[:7]] += 1
            found["words_read", state.read_at[:7]] += words
    found["state", "trash"] = len(_all(library, deleted=True))
    return {name: count for name, count in found.items() if count}


def _all(library: Store, *, deleted: bool) -> tuple[Item, ...]:
    return library.search.find(ItemQuery(filters=item_filters(deleted=deleted), limit=1_000)).items


def _kept(library: Store) -> dict[tuple[str, str], int]:
    kinds = ("state", "tag", "site", "author", "language", "quality", "saved", "read", "words_saved", "words_read")
    return {(kind, key): count for kind, counts in library.counts.get(kinds).items() for key, count in counts.items()}


def _new(chance: random.Random, user: str, number: int) -> Item:
    return make_item(
        number,
        user_id=user,
        url=f"https://tide.example/{number}",
        domain=chance.choice(_SITES),
        author=chance.choice(_AUTHORS),
        tags=chance.sample(_TAGS, chance.randrange(4)),
        saved_at=moment(number).replace("2025-03", chance.choice(_MONTHS)),
        language=chance.choice(_LANGUAGES),
        quality=chance.choice(("article", "bookmark")),
        word_count=chance.choice((None, 0, 120, 4_000)),
        pinned=chance.random() < 0.2,
        archived=chance.choice((None, True, False)),
    )


def _act(chance: random.Random, library: Store) -> None:
    """Do one thing of many to one item."""
    user, number, now = library.user_id, chance.randrange(12), moment(chance.randrange(600))
    items = (*_all(library, deleted=False), *_all(library, deleted=True))
    item = chance.choice(items) if items else None
    action = chance.randrange(10) if item else 0
    if action == 0 or item is None:
        library.items.save(_new(chance, user, number), None)
    elif action == 1:
        batch = [NewItem(_new(chance, user, n)) for n in chance.sample(range(12), 3)]
        library.items.save_many(batch, lambda old, new: replace(new, id=old.id, created_at=old.created_at))
    elif action == 2:
        library.items.delete(item.id, now)
    elif action == 3:
        library.items.restore(item.id, now)
    elif action == 4:
        library.items.purge([item.id])
    elif action == 5:
        library.items.set_metadata(item.id, now, tags=tuple(chance.sample(_TAGS, 2)), archived=chance.random() < 0.5)
    elif action == 6:
        changed = _new(chance, user, number)
        library.items.replace_content(
            item.id, content="New.", title="New", author=changed.author, published_at=None, metadata=changed.metadata, now=now
        )  # fmt: skip
    elif action == 7:
        library.items.mark_opened(item.id, now)
    else:
        state = chance.choice(("unread", "reading", "read"))
        read_at = now.replace("2025-03", chance.choice(_MONTHS)) if state == "read" else None
        library.reading.change(item.id, lambda old: replace(old, state=state, read_at=read_at, updated_at=now))


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_fresh_count_after_any_actions(opened: Opener, seed: int) -> None:
    chance, library = random.Random(seed), opened()
    for step in range(90):
        _act(chance, library)
        if step % 10 == 9:
            assert _kept(library) == _count(library)
    assert library.counts.faults() == []


def test_counts_of_one_user_are_apart_from_those_of_another(opened: Opener) -> None:
    one, other = opened(), opened("another-user-of-counts")
    one.items.save(make_item(1, user_id=one.user_id, tags=["sea"]), None)
    assert other.counts.get(["tag"]) == {"tag": {}}
    assert other.counts.suggest("tag", "s") == ()


def test_wrong_counts_are_found_and_counted_again(library: Store) -> None:
    library.items.save(make_item(1, user_id=library.user_id, tags=["sea"]), None)
    library._engine.write(lambda tx: tx.run("UPDATE item_counts SET count = 7 WHERE user_id = :user AND kind = 'tag'", user=tx.user_id))  # fmt: skip
    assert library.counts.faults() == ["The count of tag 'sea' is 7, but there are 1."]
    assert library.counts.recount() == 1
    assert (library.counts.recount(), library.counts.get(["tag"])) == (0, {"tag": {"sea": 1}})


def test_counts_survive_a_repair_and_a_restore(tmp_path: Path) -> None:
    chance = random.Random(5)
    with closing(open_store(tmp_path / "library.db")) as library:
        for number in range(12):
            library.items.save(_new(chance, library.user_id, number), None)
        for _ in range(20):
            _act(chance, library)
        expected = _count(library)
    salvage(tmp_path / "library.db", tmp_path / "repaired.db")
    with closing(open_store(tmp_path / "repaired.db")) as repaired:
        assert _kept(repaired) == expected


def test_suggestions_begin_with_the_text_then_have_a_word_that_does_then_contain_it(library: Store) -> None:
    tags = ["minecraft", "Old Mills", "vermin", "mine", "mine shafts", "100%_mi"]
    for number, tag in enumerate(tags):
        for copy in range(2 if tag == "mine" else 1):
            library.items.save(make_item(10 * number + copy, user_id=library.user_id, tags=[tag]), None)
    assert [each.name for each in library.counts.suggest("tag", "MI")] == [
        *("mine", "mine shafts", "minecraft"),
        *("100%_mi", "Old Mills", "vermin"),
    ]
    assert [each.name for each in library.counts.suggest("tag", "%_m")] == ["100%_mi"]
    assert [(each.key, each.count) for each in library.counts.suggest("tag", "", limit=1)] == [("mine", 2)]
