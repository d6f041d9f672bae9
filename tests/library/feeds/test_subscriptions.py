"""Subscriptions: added once, found by any key, changed within bounds."""

from __future__ import annotations

import pytest

from pagekeep.errors import InvalidQuery, InvalidUrl, NotFound, PagekeepError
from pagekeep.library.feeds import subscriptions
from pagekeep.library.feeds.inbox import add_entries
from pagekeep.library.feeds.subscriptions import add_feed, change_feed, get_feed, list_feeds, remove_feed, request_poll
from pagekeep.model import FeedSettings, NewEntry
from pagekeep.store import Store


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("example.com/feed", "https://example.com/feed"),
        (" http://example.com/feed ", "http://example.com/feed"),
        ("feed://example.com/rss", "https://example.com/rss"),
        ("feed:http://example.com/rss", "http://example.com/rss"),
        ("https://EXAMPLE.com", "https://example.com/"),
    ],
)
def test_addresses_are_completed(library: Store, given: str, address: str) -> None:
    feed, is_new = add_feed(library, given)
    assert (feed.address, is_new) == (address, True)
    assert add_feed(library, address)[1] is False


@pytest.mark.parametrize("address", ["", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b"])
def test_what_is_not_an_address_is_refused(library: Store, address: str) -> None:
    with pytest.raises(PagekeepError) as refused:
        add_feed(library, address)
    assert isinstance(refused.value, InvalidUrl) or "protocol" in refused.value.message.lower() or refused.value.message


def test_a_feed_is_found_by_id_prefix_address_and_name(library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/feed", settings=FeedSettings(name="Harbour news"))
    for key in (feed.id, feed.id[:6], feed.address, "harbour NEWS"):
        assert get_feed(library, key).id == feed.id
    with pytest.raises(NotFound):
        get_feed(library, "other")


def test_counts_and_folders_are_listed(library: Store) -> None:
    late, _ = add_feed(library, "https://example.com/b", folder=" Sea / / Ports/")
    first, _ = add_feed(library, "https://example.com/a")
    add_entries(library, late, [NewEntry("1", "One")])
    assert [(one.feed.id, one.feed.folder, one.counts.unread) for one in list_feeds(library)] == [
        (first.id, "", 0),
        (late.id, "Sea/Ports", 1),
    ]
    assert subscriptions.count_unread(library) == 1


def test_settings_change_one_by_one(library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/a", settings=FeedSettings(tags=("a",)))
    changed = change_feed(library, feed.id, folder="X", changes={"include": (" sea  air ", "", "sea air")})
    assert (changed.folder, changed.settings.tags, changed.settings.include) == ("X", ("a",), ("sea air",))
    for wrong in ({"keep_count": -1}, {"keep_days": 99_999}, {"every": 10}):
        with pytest.raises(InvalidQuery):
            change_feed(library, feed.id, changes=wrong)


def test_a_new_or_requested_feed_is_polled_at_once(library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/a")
    (schedule,) = library.schedules.list(subscriptions.TASK)
    change_feed(library, feed.id, status="paused")
    assert library.feeds.due("2099-01-01T00:00:00.000000Z", "2099-02-01T00:00:00.000000Z", 9) == ()
    assert request_poll(library) == ()  # a paused one stays paused
    assert library.feeds.get(feed.id).status == "paused"
    assert [one.id for one in request_poll(library, (feed.id,))] == [feed.id]
    assert library.feeds.get(feed.id).status == "active"
    assert len(library.feeds.due("2099-01-01T00:00:00.000000Z", "2099-02-01T00:00:00.000000Z", 9)) == 1
    assert library.schedules.list(subscriptions.TASK)[0].id == schedule.id


def test_a_removed_feed_is_gone(library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/a")
    assert remove_feed(library, feed.address).id == feed.id
    assert list_feeds(library) == ()
