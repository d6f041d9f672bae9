from __future__ import annotations

import hashlib
import threading
import uuid
from dataclasses import replace

import pytest

from pagekeep.errors import NotFound, Outdated, StoreError
from pagekeep.model import Item, ItemMetadata
from pagekeep.store import Store, parse_query
from pagekeep.store.storable import metadata_to_json
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, make_raw, moment

LATER = moment(700)


def test_an_item_comes_back_as_it_was_put_in(library: Store) -> None:
    item = make_item(
        title="Tea & cake",
        author="A. Author",
        published_at="2024-01",
        user_id=library.user_id,
        notes={"a": [1, None, 2.5]},
    )
    assert library.items.save(item, make_raw()) == item
    assert library.items.get(item.id) == item
    assert library.items.by_url(item.url) == item


def test_a_second_save_replaces_the_reading_and_keeps_what_is_the_users(library: Store) -> None:
    old = make_item(user_id=library.user_id, tags=["one"], strategy="bookmark", discarded=True, notes="mine")
    library.items.save(old, make_raw())
    library.items.set_metadata(old.id, NOW, pinned=True, archived=True)
    library.items.mark_opened(old.id, LATER)
    new = replace(
        make_item(
            user_id=library.user_id, title="New", content="New.", tags=["One", "two"], saved_at=LATER, pinned=False
        ),
        url_full="https://example.com/page/0#top",
        author="B",
        published_at="2025",
        source="html",
        created_at=LATER,
        updated_at=LATER,
    )
    stored = library.items.save(new, make_raw(b"new"))
    assert (stored.id, stored.created_at, stored.saved_at, stored.last_opened_at) == (old.id, NOW, NOW, LATER)
    assert metadata_to_json(stored.metadata) == {
        "parser_version": 1,
        "pinned": True,
        "archived": True,
        "notes": "mine",
        "tags": ["one", "two"],
        "text_hash": new.metadata.text_hash,
    }
    assert (stored.title, stored.content, stored.author, stored.published_at) == ("New", "New.", "B", "2025")
    assert (stored.url_full, stored.source, stored.updated_at) == ("https://example.com/page/0#top", "html", LATER)
    assert library.items.get(old.id) == stored


def test_saving_a_deleted_page_again_restores_it(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    library.items.delete(item.id, LATER)
    library.items.save(make_item(user_id=library.user_id), None)
    assert library.items.get(item.id).deleted_at is None


def test_an_item_of_another_user_is_refused(library: Store) -> None:
    with pytest.raises(StoreError):
        library.items.save(make_item(user_id="somebody else"), None)


def test_a_unique_beginning_of_an_id_is_enough(library: Store) -> None:
    one = replace(make_item(1, user_id=library.user_id), id="aaaa1111-0000-4000-8000-000000000000")
    two = replace(make_item(2, user_id=library.user_id), id="aaaa2222-0000-4000-8000-000000000000")
    for item in (one, two):
        library.items.save(item, None)
    assert library.items.get("AAAA1") == one
    assert library.items.get(two.id) == two
    assert library.items.get(two.url) == two
    with pytest.raises(StoreError, match="More than one"):
        library.items.get("aaaa")
    with pytest.raises(NotFound):
        library.items.get("aaa")


def test_what_is_not_there_is_not_found(library: Store) -> None:
    for call in (
        lambda: library.items.get("https://example.com/none"),
        lambda: library.items.set_metadata("none", NOW),
        lambda: library.items.mark_opened("none", NOW),
        lambda: library.items.delete("none\x00\ud800", NOW),
        lambda: library.items.restore("none", NOW),
        lambda: library.jobs.revive("none", NOW),
    ):
        with pytest.raises(NotFound):
            call()
    assert library.items.by_url("https://example.com/none") is None
    assert library.items.raw("none") is None


def test_only_the_given_fields_of_the_metadata_change(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, retry_count=2, strategy="readability"), None)
    changed = library.items.set_metadata(item.id, LATER, retry_count=0, pinned=True, tags=("new",))
    assert metadata_to_json(changed.metadata) == {
        "tags": ["new"],
        "parser_version": 1,
        "strategy": "readability",
        "pinned": True,
        "text_hash": item.metadata.text_hash,
    }
    assert changed.updated_at == LATER
    assert library.items.get(item.id) == changed
    assert [hit.item.id for hit in library.search.find(parse_query("new")).hits] == [item.id]


def test_retries_are_counted_until_there_is_more_than_a_bookmark(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, quality="bookmark", retry_count=1), None)
    fields = {"content": "Words.", "title": "A", "author": None, "published_at": None, "now": LATER}
    still = library.items.replace_content(item.id, metadata=ItemMetadata(quality="bookmark"), **fields)
    assert still.metadata.retry_count == 1
    better = library.items.replace_content(item.id, metadata=ItemMetadata(quality="simplified"), **fields)
    assert better.metadata.retry_count == 0


def test_metadata_that_this_version_does_not_know_survives_every_change(library: Store) -> None:
    unknown = {"shelf": {"row": 3}, "quality": {"level": "article"}, "score": "high"}
    item = library.items.save(make_item(user_id=library.user_id, **unknown), None)
    assert item.metadata.quality is None
    library.items.set_metadata(item.id, LATER, pinned=True, tags=("new",))
    assert library.items.get(item.id).metadata.extra == unknown
    fields = {"content": "Words.", "title": "A", "author": None, "published_at": None, "now": LATER}
    read = library.items.replace_content(item.id, metadata=ItemMetadata(quality="article", score=90), **fields)
    assert metadata_to_json(read.metadata)["shelf"] == {"row": 3}
    assert (library.items.get(item.id).metadata.quality, library.items.get(item.id).metadata.score) == ("article", 90)


def test_a_new_reading_keeps_what_the_user_set(library: Store) -> None:
    item = library.items.save(
        make_item(user_id=library.user_id, pinned=True, tags=["mine"], quality="bookmark", retry_count=1), None
    )
    read = library.items.replace_content(
        item.id,
        content="Better words.",
        title="Better",
        author="C",
        published_at="2024",
        metadata=ItemMetadata(pinned=False, tags=("theirs",), quality="article", parser_version=2),
        now=LATER,
    )
    assert metadata_to_json(read.metadata) == {
        "pinned": True,
        "tags": ["mine"],
        "quality": "article",
        "parser_version": 2,
        "text_hash": hashlib.sha256(b"Better words.").hexdigest(),
    }
    assert (read.content, read.title, read.author, read.published_at) == ("Better words.", "Better", "C", "2024")
    assert (read.saved_at, read.updated_at) == (NOW, LATER)
    assert library.items.get(item.id) == read
    assert not library.search.find(parse_query('"some words"')).hits
    assert library.search.find(parse_query('"better words"')).hits


def test_opening_an_item_is_not_a_change_of_it(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    assert library.items.mark_opened(item.id, LATER) == replace(item, last_opened_at=LATER)


def test_deleted_items_stay_until_purged(library: Store) -> None:
    items = [library.items.save(make_item(n, user_id=library.user_id), make_raw(b"%d" % n)) for n in range(4)]
    for n, item in enumerate(items[:3]):
        library.items.delete(item.id, moment(n))
    library.items.restore(items[0].id, LATER)
    assert library.items.get(items[1].id).deleted_at == moment(1)
    assert library.items.purge(deleted_before=moment(2)) == 1
    assert library.items.purge([items[0].id, items[3].id]) == 0
    assert library.items.purge([items[2].id]) == 1
    assert library.counts.totals()["items"] == 2
    assert library.counts.totals()["raw_pages"] == 2
    assert library.check() == []
    with pytest.raises(NotFound):
        library.items.get(items[1].id)


def test_deleting_twice_keeps_the_first_moment(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    library.items.delete(item.id, moment(1))
    assert library.items.delete(item.id, moment(2)).deleted_at == moment(1)


def test_hostile_text_is_stored_as_far_as_text_can_be(library: Store) -> None:
    item = make_item(
        user_id=library.user_id,
        title="a\x00b\ud800c",
        content="\udfff 'quoted\" %s :user \x00",
        author="\ud83d\ude00",
        key="\x00\ud800",
    )
    stored = library.items.save(item, make_raw(b"\x00\xff"))
    assert stored.title == "ab\ufffdc"
    assert stored.author == "\U0001f600"
    assert stored.metadata.extra["key"] == "\ufffd"
    assert library.items.get(item.id) == stored
    assert len(library.search.find(parse_query("quoted \x00\ud800")).hits) == 1


def test_metadata_that_json_cannot_hold_is_refused(library: Store) -> None:
    for value in (float("nan"), object()):
        with pytest.raises(StoreError):
            library.items.save(make_item(user_id=library.user_id, odd=value), None)


def test_very_long_urls_titles_and_tags_are_kept(library: Store) -> None:
    long = "ä" * 5_000
    item = make_item(user_id=library.user_id, url=f"https://example.com/{long}", title=long, tags=[long], author=long)
    library.items.save(item, None)
    assert library.items.get(item.url) == item
    assert library.jobs.add(item.url, item.url, {}, NOW).url == item.url


def test_a_page_of_endless_distinct_words_is_kept(library: Store) -> None:
    letters = [chr(0x10400 + n) for n in range(40)]
    content = " ".join(a + b + c + d for a in letters for b in letters for c in letters for d in letters[:10])
    item = library.items.save(make_item(user_id=library.user_id, content=content), None)
    assert len(library.search.find(parse_query(content[:4])).hits) == 1
    assert library.items.get(item.id).content == content


def test_users_see_their_own_items_alone(opened: Opener) -> None:
    mine, yours = opened("me" + NOW), opened("you" + NOW)
    item = mine.items.save(make_item(user_id=mine.user_id, tags=["t"], pinned=True), make_raw())
    other = yours.items.save(make_item(user_id=yours.user_id, title="Yours"), make_raw())
    assert yours.items.by_url(item.url) == other
    assert yours.items.raw(item.id) is None
    with pytest.raises(NotFound):
        yours.items.get(item.id)
    assert [hit.item.id for hit in yours.search.find(parse_query("words")).hits] == [other.id]
    yours.items.delete(other.id, NOW)
    assert yours.items.purge([item.id]) == 0
    assert mine.items.get(item.id) == item
    assert mine.items.raw(item.id) == make_raw()


def test_threads_save_the_same_page_once(library: Store) -> None:
    found: list[Item | Exception] = []

    def save() -> None:
        try:
            found.extend(library.items.save(make_item(user_id=library.user_id), make_raw()) for _ in range(10))
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=save) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({item.id if isinstance(item, Item) else str(item) for item in found}) == 1
    assert library.counts.totals()["items"] == 1


def test_one_of_several_first_saves_adds_the_page(library: Store) -> None:
    pairs, made = 20, list[tuple[int, Item | None]]()

    def add(number: int, gate: threading.Barrier) -> None:
        gate.wait()
        made.append((number, library.items.add(make_item(number, user_id=library.user_id), make_raw())))

    for number in range(pairs):
        gate = threading.Barrier(2)
        both = [threading.Thread(target=add, args=(number, gate)) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
    added = [(number, item.id) for number, item in made if item is not None]
    assert sorted(number for number, _ in added) == list(range(pairs))
    assert len(made) == 2 * pairs
    for number, item_id in added:
        stored = library.items.by_url(make_item(number).url)
        assert stored is not None
        assert stored.id == item_id
        assert library.items.raw(item_id) == make_raw()


def test_a_page_that_is_there_is_not_added_again(library: Store) -> None:
    first = library.items.add(make_item(user_id=library.user_id, title="First"), make_raw())
    assert first is not None
    assert library.items.add(make_item(user_id=library.user_id, title="Second"), None) is None
    library.items.delete(first.id, NOW)
    assert library.items.add(make_item(user_id=library.user_id, title="Second"), None) is None
    assert library.items.get(first.id).title == "First"
    assert library.items.raw(first.id) == make_raw()


def test_a_closed_library_says_so(opened: Opener) -> None:
    library = opened()
    library.close()
    library.close()
    with pytest.raises(StoreError, match="closed"):
        library.counts.totals()


@pytest.mark.parametrize(
    "content",
    [
        "<http://" * 100_000,
        '](x "' * 200_000,
        "a" + "_" * 1_000_000 + "x",
        " " * 1_000_000 + "x",
        "---\n" * 200_000,
        "e" + "\u0301" * 500_000,
        "東" * 500_000,
        "'\\%_:&|!()<>\" " * 50_000,
    ],
    ids=["addresses", "links", "underscores", "spaces", "rules", "accents", "ideographs", "signs"],
)
def test_monotonous_megabytes_are_kept_and_searched(library: Store, content: str) -> None:
    item = library.items.save(make_item(user_id=library.user_id, title="Monotony", content=content), None)
    assert library.items.get(item.id).content == content
    assert [hit.item.id for hit in library.search.find(parse_query("monotony")).hits] == [item.id]
    assert library.search.find(parse_query('"東 東" x')).hits == ()
    assert library.check() == []


def test_the_users_own_version_outlives_every_new_reading(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, content="---\ntitle: A\n---\n\nRead.\n"), None)
    reading = {"title": "Read again", "author": "Them", "published_at": None, "now": moment(5)}
    own = "---\ntitle: A\n---\n\nMy own words about sextants.\n"
    kept = {"title": "A", "author": None, "published_at": None, "now": moment(4)}
    library.items.replace_content(item.id, content=own, metadata=ItemMetadata(edited=True, word_count=5), **kept)
    library.items.replace_content(item.id, content="Read again.\n", metadata=ItemMetadata(word_count=2), **reading)
    assert library.items.get(item.id).content == own
    again = replace(item, id=str(uuid.uuid4()), content="Saved again.\n", title="B", updated_at=moment(6))
    stored = library.items.save(again, None)
    assert (stored.content, stored.title, stored.metadata.word_count) == (own, "A", 5)
    assert [hit.item.id for hit in library.search.find(parse_query("sextants")).hits] == [item.id]
    library.items.set_metadata(item.id, moment(7), edited=False)
    assert library.items.save(again, None).content == "Saved again.\n"


def test_a_change_may_depend_on_nothing_having_changed(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    changed = library.items.set_metadata(item.id, moment(5), pinned=True, unchanged_since=item.updated_at)
    with pytest.raises(Outdated):
        library.items.set_metadata(item.id, moment(6), archived=True, unchanged_since=item.updated_at)
    assert library.items.get(item.id) == changed
