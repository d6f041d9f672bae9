from __future__ import annotations

from dataclasses import replace

from pagekeep.model import RawPage
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, make_raw


def test_the_raw_page_comes_back_as_it_was(library: Store) -> None:
    raw = RawPage(bytes(range(256)) * 40, None, "text/html", "https://example.com/end", 203, True, NOW, None, "Tue")
    item = library.items.save(make_item(user_id=library.user_id), raw)
    assert library.items.raw(item.id) == raw


def test_equal_bodies_are_kept_once_though_their_headers_differ(library: Store) -> None:
    pages = [replace(make_raw(b"same" * 1000), etag=str(number)) for number in range(3)]
    items = [library.items.save(make_item(n, user_id=library.user_id), page) for n, page in enumerate(pages)]
    assert [library.items.raw(item.id) for item in items] == pages
    stats = library.counts.totals()
    assert (stats["raw_pages"], stats["raw_bytes"]) == (1, 4000)
    assert stats["raw_bytes_packed"] < 400


def test_a_body_goes_with_the_last_item_that_has_it(library: Store) -> None:
    one, two = (library.items.save(make_item(n, user_id=library.user_id), make_raw()) for n in (1, 2))
    library.items.delete(one.id, NOW)
    library.items.purge()
    assert library.items.raw(two.id) == make_raw()
    library.items.delete(two.id, NOW)
    library.items.purge()
    assert library.counts.totals()["raw_pages"] == 0


def test_a_newer_page_takes_the_place_of_the_older(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), make_raw(b"old"))
    library.items.save(make_item(user_id=library.user_id), make_raw(b"new"))
    assert library.items.raw(item.id) == make_raw(b"new")
    assert library.counts.totals()["raw_pages"] == 1
    library.items.save(make_item(user_id=library.user_id), None)
    assert library.items.raw(item.id) is None
    assert library.check() == []


def test_raw_pages_are_kept_only_if_wanted(opened: Opener) -> None:
    library = opened(keep_raw=False)
    item = library.items.save(make_item(user_id=library.user_id), make_raw())
    assert library.items.raw(item.id) is None


def test_headers_of_the_response_come_back(library: Store) -> None:
    headers = {"content-type": "text/html", "x-note": 'Ümlaut "quoted"\x00 \ud800'}
    item = library.items.save(make_item(user_id=library.user_id), replace(make_raw(), headers=headers))
    raw = library.items.raw(item.id)
    assert raw is not None
    assert raw.headers == {"content-type": "text/html", "x-note": 'Ümlaut "quoted" \ufffd'}
    library.items.save(item, make_raw())
    again = library.items.raw(item.id)
    assert again is not None
    assert again.headers is None
