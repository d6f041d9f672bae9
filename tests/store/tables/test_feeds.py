"""Feeds and their entries, on both engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.model import EntryQuery, Feed, FeedSettings, ItemQuery, NewEntry, PollOutcome, PublishedFeed
from pagekeep.store import Store, open_store
from pagekeep.store.backup import backup_folder
from pagekeep.store.tables.entries import guid_hash
from tests.store.conftest import Opener
from tests.store.making import make_item, make_raw, moment

FAR = "2025-07-01T00:00:00.000000Z"
SETTINGS = FeedSettings(name="Mine", tags=("a", "b"), include=("sea",), content="page", keep_count=5, every=3600)


def subscribe(library: Store, number: int = 0, **options: Any) -> Feed:
    return library.feeds.add("web", f"https://example.com/feed/{number}", now=moment(0), **options)[0]


def entry(name: str, **fields: Any) -> NewEntry:
    return NewEntry(guid=name, title=fields.pop("title", f"Entry {name}"), **fields)


def titles(library: Store, **query: Any) -> list[str]:
    return [found.title for found in library.entries.find(EntryQuery(**query)).entries]


def test_a_feed_is_there_once_and_stays_as_it_is(library: Store) -> None:
    feed, is_new = library.feeds.add(
        "web", "https://example.com/f", now=moment(0), folder="News/Sea", settings=SETTINGS
    )
    again, is_new_again = library.feeds.add("web", "https://example.com/f", now=moment(1))
    assert (is_new, is_new_again, again) == (True, False, feed)
    assert (feed.settings, feed.folder, feed.label) == (SETTINGS, "News/Sea", "Mine")
    assert (
        library.feeds.get(feed.id)
        == library.feeds.get(feed.id[:8])
        == library.feeds.get("https://example.com/f")
        == feed
    )
    with pytest.raises(NotFound):
        library.feeds.get("https://example.com/other")


def test_settings_folder_and_status_change(library: Store) -> None:
    feed = subscribe(library)
    changed = library.feeds.change(feed.id, moment(1), folder="Sea", settings=SETTINGS, status="paused")
    assert (changed.folder, changed.settings, changed.status) == ("Sea", SETTINGS, "paused")
    assert library.feeds.change(feed.id, moment(2), folder="").folder == ""
    assert library.feeds.change(feed.id, moment(2)).settings == SETTINGS
    with pytest.raises(NotFound):
        library.feeds.change(feed.id[::-1], moment(1), folder="x")


def test_feeds_are_due_by_their_time_unless_they_are_paused_or_newsletters(library: Store) -> None:
    feeds = [subscribe(library, number) for number in range(4)]
    library.feeds.add("mail", "list.example.com", now=moment(0))
    for number, feed in enumerate(feeds):
        library.feeds.change(feed.id, moment(0), next_at=moment(10 * number))
    library.feeds.change(feeds[0].id, moment(0), status="paused")
    assert [feed.id for feed in library.feeds.due(moment(20), FAR, 10)] == [feeds[1].id, feeds[2].id]
    assert library.feeds.next_poll() == moment(10)
    library.feeds.change(feeds[3].id, moment(0), next_at="2031-01-01T00:00:00.000000Z")
    assert len(library.feeds.due(moment(20), FAR, 10)) == 3  # set while the clock was ahead


def test_a_poll_settles_what_is_known_about_its_feed(library: Store) -> None:
    first, second = subscribe(library, 1), subscribe(library, 2)
    moved = PollOutcome(
        first.id,
        first.next_at,
        {"etag": '"1"'},
        moment(60),
        title="News",
        site="https://e.com/",
        address="https://n.org/",
    )
    taken = PollOutcome(
        second.id, second.next_at, {"error": "x"}, moment(90), attempts=2, status="gone", address="https://n.org/"
    )
    library.feeds.settle_polls([moved, taken], moment(5))
    one, two = library.feeds.get(first.id), library.feeds.get(second.id)
    assert (one.title, one.site, one.address, one.state, one.polled_at) == (
        *("News", "https://e.com/", "https://n.org/", {"etag": '"1"'}),
        moment(5),
    )
    assert (two.status, two.attempts, two.error, two.address) == ("gone", 2, "x", second.address)
    library.feeds.settle_polls([PollOutcome(second.id, second.next_at, {}, moment(99))], moment(6))  # it has ended
    assert library.feeds.get(second.id).status == "gone"


def test_a_poll_does_not_settle_one_that_was_requested_since(library: Store) -> None:
    feed = subscribe(library)
    library.feeds.change(feed.id, moment(7), next_at=moment(7))
    library.feeds.settle_polls([PollOutcome(feed.id, feed.next_at, {"etag": "1"}, moment(60))], moment(8))
    found = library.feeds.get(feed.id)
    assert (found.next_at, found.polled_at, found.state) == (moment(7), moment(8), {"etag": "1"})
    library.feeds.settle_polls([PollOutcome(feed.id, found.next_at, {}, moment(60))], moment(9))
    assert library.feeds.get(feed.id).next_at == moment(60)


def test_entries_wait_apart_from_the_items(library: Store) -> None:
    feed = subscribe(library)
    raw = make_raw("<p>Größe</p>".encode())
    added = library.entries.put(
        feed.id,
        [
            entry("a", url="https://e.com/a", author="Ada", published_at=moment(3), content="Of *tides*.", page=raw),
            entry("b", published_at="2099-01-01", extra={"categories": ["sea"]}),
        ],
        moment(5),
    )
    assert (len(added.added), added.updated, added.unchanged) == (2, (), 0)
    assert titles(library) == ["Entry b", "Entry a"]  # a date in the future counts as now
    assert library.search.find(ItemQuery()).hits == ()
    found = library.entries.get(library.entries.find(EntryQuery()).entries[1].id)
    assert (found.content, found.author, found.published_at, found.read_at) == ("Of *tides*.", "Ada", moment(3), None)
    stored = library.entries.page(found.id)
    assert stored == replace(raw, etag=None, last_modified=None, headers=None)
    counts = library.entries.counts()[feed.id]
    assert (counts.unread, counts.total) == (2, 2)


def test_a_changed_entry_is_updated_and_stays_read(library: Store) -> None:
    feed = subscribe(library)
    (entry_id,) = library.entries.put(feed.id, [entry("a", content="one")], moment(1)).added
    library.entries.mark([entry_id], True, moment(2))
    same = library.entries.put(feed.id, [entry("a", content="one")], moment(3))
    assert (same.added, same.updated, same.unchanged) == ((), (), 1)
    changed = library.entries.put(feed.id, [entry("a", content="two")], moment(4))
    assert changed.updated == (entry_id,)
    found = library.entries.get(entry_id)
    assert (found.content, found.read_at, found.updated_at, found.found_at) == ("two", moment(2), moment(4), moment(1))


def test_an_entry_with_a_new_guid_is_known_by_its_address(library: Store) -> None:
    feed, url = subscribe(library), "https://e.com/a"
    (entry_id,) = library.entries.put(feed.id, [entry("http://e.com/?p=1", url=url)], moment(1)).added
    moved = library.entries.put(feed.id, [entry("https://e.com/?p=1", url=url)], moment(2))
    assert (moved.added, moved.unchanged) == ((), 1) or moved.updated == (entry_id,)
    both = [entry("x", url=url), entry("y", url=url)]  # two entries about one page
    assert len(library.entries.put(feed.id, both, moment(3)).added) == 2
    other = subscribe(library, 2)
    assert len(library.entries.put(other.id, [entry("z", url=url)], moment(3)).added) == 1


def test_pages_follow_each_other_by_key(library: Store) -> None:
    feed, other = subscribe(library), subscribe(library, 2)
    library.entries.put(feed.id, [entry(str(number), published_at=moment(number)) for number in range(7)], moment(30))
    library.entries.put(other.id, [entry("other")], moment(30))
    query, seen = EntryQuery(feed_ids=(feed.id,), limit=3), list[str]()
    while True:
        page = library.entries.find(query)
        seen += [found.guid for found in page.entries]
        if page.next is None:
            break
        query = replace(query, after=page.next)
    assert seen == [str(number) for number in reversed(range(7))]
    with pytest.raises(InvalidQuery):
        library.entries.find(EntryQuery(after="forged"))
    assert titles(library, feed_ids=()) == []


def test_words_are_found_whatever_their_case_and_accents(library: Store) -> None:
    feed = subscribe(library)
    library.entries.put(
        feed.id, [entry("a", content="The Café of Brest"), entry("b", content="cafeteria 100%_")], moment(1)
    )
    assert titles(library, words=(" cafe ",)) == ["Entry a"]
    assert titles(library, words=(" cafe",)) == titles(library)
    assert titles(library, excluded=(" brest ",)) == ["Entry b"]


def test_read_unread_and_all_read(library: Store) -> None:
    feed, other = subscribe(library), subscribe(library, 2)
    ids = library.entries.put(feed.id, [entry("a"), entry("b")], moment(1)).added
    library.entries.put(other.id, [entry("c")], moment(1))
    assert library.entries.mark([ids[0], ids[0], "nonsense"], True, moment(2)) == 1
    assert len(titles(library, state="unread")) == 2
    assert library.entries.mark([ids[0]], False, moment(2)) == 1
    library.entries.put(feed.id, [entry("late")], moment(9))
    assert library.entries.mark_all_read(EntryQuery(feed_ids=(feed.id,)), moment(5), moment(10)) == 2
    assert sorted(titles(library, state="unread")) == ["Entry c", "Entry late"]
    assert library.entries.mark_all_read(EntryQuery(), moment(10), moment(10)) == 2


def test_entries_until_a_time_are_marked_whatever_its_notation_and_what_is_not_a_time_is_refused(
    library: Store,
) -> None:
    library.entries.put(subscribe(library).id, [entry("a")], moment(61))
    assert library.entries.mark_all_read(EntryQuery(), "2025-03-19T02:00:00+01:00", moment(70)) == 0
    for time in ("warcinfo", "", "2025-13-01", "9999-12-31T23:59:59-12:00"):
        with pytest.raises(InvalidQuery, match="is not a time"):
            library.entries.mark_all_read(EntryQuery(), time, moment(70))
    assert library.entries.mark_all_read(EntryQuery(), "2025-03-19T02:01:00+01:00", moment(70)) == 1


def test_a_kept_entry_names_its_item(library: Store) -> None:
    feed = subscribe(library)
    (entry_id,) = library.entries.put(feed.id, [entry("a")], moment(1)).added
    assert library.entries.mark_kept(entry_id, None, moment(2)).item_id is None
    item = library.items.save(make_item(user_id=library.user_id), None)
    kept = library.entries.mark_kept(entry_id, item.id, moment(3))
    assert (kept.item_id, kept.kept_at, kept.read_at) == (item.id, moment(2), moment(2))
    assert titles(library, state="kept") == ["Entry a"]
    with pytest.raises(NotFound):
        library.entries.mark_kept(item.id, None, moment(3))


def test_the_text_of_the_page_replaces_that_of_the_feed(library: Store) -> None:
    feed = subscribe(library)
    (entry_id,) = library.entries.put(feed.id, [entry("a", content="short", extra={"a": 1})], moment(1)).added
    library.entries.set_text(entry_id, "The whole article", make_raw(b"<p>whole"), {"full": True})
    found = library.entries.get(entry_id)
    assert (found.content, found.extra) == ("The whole article", {"a": 1, "full": True})
    assert titles(library, words=(" whole ",)) == ["Entry a"]
    assert library.entries.put(feed.id, [entry("a", content="short", extra={"a": 1})], moment(2)).unchanged == 1
    assert library.entries.get(entry_id).content == "The whole article"


def test_old_entries_leave_and_do_not_come_back_while_the_feed_lists_them(library: Store) -> None:
    feed = subscribe(library)
    entries = [entry(str(number), published_at=moment(number), content="text", page=make_raw()) for number in range(6)]
    ids = library.entries.put(feed.id, entries, moment(30)).added
    listed = {guid_hash(str(number)) for number in range(1, 6)}
    trimmed = library.entries.trim(feed.id, moment(31), count=4, since=None, least=0, listed=listed)
    assert set(trimmed) == {*ids} - {entry.id for entry in library.entries.find(EntryQuery()).entries}
    assert library.entries.left_out() == {feed.id: 1}
    assert sorted(titles(library)) == [f"Entry {number}" for number in range(2, 6)]
    assert library.entries.put(feed.id, entries[1:], moment(32)).added == ()
    assert set(library.entries.fingerprints(feed.id)) == listed
    assert sum(library.entries.page(one) is not None for one in ids) == 4
    trimmed = library.entries.trim(feed.id, moment(33), count=0, since=moment(5), least=2, listed=listed)
    assert (len(trimmed), titles(library)) == (2, ["Entry 5", "Entry 4"])
    assert len(library.entries.trim(feed.id, moment(33), count=0, since=moment(5), least=0, listed=set())) == 1
    assert titles(library) == ["Entry 5"]
    assert set(library.entries.fingerprints(feed.id)) == {guid_hash("5")}


def test_a_removed_feed_takes_its_entries_along(library: Store) -> None:
    feed = subscribe(library)
    (entry_id,) = library.entries.put(feed.id, [entry("a", page=make_raw())], moment(1)).added
    assert library.feeds.remove(feed.id)
    assert not library.feeds.remove(feed.id)
    assert (library.feeds.list(), titles(library), library.entries.page(entry_id)) == ((), [], None)
    with pytest.raises(NotFound):
        library.entries.put(feed.id, [entry("a")], moment(1))


def test_users_do_not_see_each_others_feeds(opened: Opener) -> None:
    ada, bob = opened("ada-feeds"), opened("bob-feeds")
    feed = subscribe(ada)
    (entry_id,) = ada.entries.put(feed.id, [entry("a", page=make_raw())], moment(1)).added
    ada.feeds.publish(PublishedFeed(feed.id, "Mine", "", moment(1)))
    assert (bob.feeds.list(), bob.feeds.published(), bob.entries.counts(), bob.entries.page(entry_id)) == (
        (),
        (),
        {},
        None,
    )
    assert bob.entries.find(EntryQuery()).entries == ()
    assert not bob.feeds.remove(feed.id)
    assert not bob.feeds.unpublish(feed.id)
    assert bob.entries.mark([entry_id], True, moment(2)) == 0
    assert bob.entries.mark_all_read(EntryQuery(), FAR, FAR) == 0
    bob.feeds.settle_polls([PollOutcome(feed.id, feed.next_at, {}, FAR, status="gone")], moment(2))
    for attempt in (
        lambda: bob.feeds.get(feed.id),
        lambda: bob.entries.get(entry_id),
        lambda: bob.entries.mark_kept(entry_id, None, FAR),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert (ada.feeds.get(feed.id), ada.entries.get(entry_id).read_at) == (feed, None)
    ada.feeds.remove(feed.id)
    ada.feeds.unpublish(feed.id)


def test_backups_hold_feeds_entries_and_their_pages(library: Store, tmp_path: Path) -> None:
    library.items.save(make_item(user_id=library.user_id), None)
    feed = subscribe(library, settings=SETTINGS)
    library.entries.put(feed.id, [entry("a", url="https://e.com", page=make_raw(), extra={"x": [1]})], moment(1))
    library.feeds.publish(PublishedFeed(feed.id, "Mine", "tag:x", moment(1)))
    library.backup_folder(tmp_path / "backup", moment(2), {})
    restored = open_store(tmp_path / "restored.db", library.user_id)
    restored.restore_folder(tmp_path / "backup", backup_folder.read_state(tmp_path / "backup"))
    (found,) = library.entries.find(EntryQuery(content=True)).entries
    assert restored.feeds.list() == library.feeds.list()
    assert restored.entries.find(EntryQuery(content=True)).entries == (found,)
    assert restored.entries.page(found.id) == library.entries.page(found.id)
    assert restored.feeds.published() == library.feeds.published()
    restored.close()


@pytest.mark.parametrize("text", ["\x00", "\ud800", "𝒳" * 400, "%_\\", "'; DROP TABLE feeds"])
def test_any_text_can_be_stored(library: Store, text: str) -> None:
    feed = subscribe(library, title=text, folder=text, settings=FeedSettings(name=text, tags=(text,)))
    odd = NewEntry(text, text, url=text, author=text, content=text, extra={text: [text]})
    (entry_id,) = library.entries.put(feed.id, [odd], moment(1)).added
    assert library.entries.put(feed.id, [odd], moment(1)).unchanged == 1
    assert library.entries.get(entry_id).id == entry_id
    library.entries.find(EntryQuery(words=(text,)))
