from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import ItemQuery, NewItem
from pagekeep.store import Store, parse_query
from pagekeep.store.engine import write_page_key
from pagekeep.store.tables import find
from tests.store.making import NOW, make_item, moment

ITEMS: dict[str, dict[str, Any]] = {
    "solar": {"title": "Solar panels", "content": "---\ntitle: hidden\n---\n\n# Sun\n\nPanels on the roof of a barn."},
    "wind": {
        "title": "Wind",
        "content": "Turbines, and some solar panels too. Don't panic.",
        "tags": ["Énergie", "wind power"],
    },
    "panels": {
        "title": "Comics",
        "content": "A page has panels. Solar ones? No: [drawn](https://solarpunk.example/x) ones.",
        "pinned": True,
    },
    "café": {"title": "Café Čapek", "content": "Le cœur de l’été", "author": "Zoë Noël", "domain": "fr.example.org"},
    "tokyo": {"title": "旅行", "content": "東京都に住んでいます。カタカナ。", "domain": "example.jp"},
    "seoul": {"title": "여행", "content": "서울에서 부산까지"},
    "bangkok": {"title": "เที่ยว", "content": "สวัสดีครับ กรุงเทพมหานคร", "saved_at": "2024-02-03T00:00:00.000000Z"},
    "delhi": {"title": "यात्रा", "content": "दिल्ली में हिन्दी।", "archived": True},
    "arabic": {"title": "سفر", "content": "اَلْقَاهِرَةُ كبيرة", "quality": "article"},
    "russian": {"title": "Ёлка", "content": "Съешь ещё этих мягких булок", "quality": {"level": "bookmark"}},
}

QUERIES = {
    "solar": "panels solar wind",
    "SOLAR": "panels solar wind",
    "solar panels": "panels solar wind",
    '"solar panels"': "solar wind",
    '"panels solar"': "panels",
    '"has panels" solar': "panels",
    '"page has panels solar ones"': "panels",
    "sol*": "panels solar wind",
    "turb* panel*": "wind",
    '"barn': "solar",
    "panel": "",
    "panels -solar": "",
    "panels -wind": "panels solar",
    'panels -"solar panels"': "panels",
    "-panels": "arabic bangkok café delhi russian seoul tokyo",
    "-sol* -is:archived -domain:example.org": "arabic bangkok russian seoul tokyo",
    "hidden": "",
    "solarpunk": "",
    "don't": "wind",
    "dont": "",
    "cafe capek": "café",
    "CŒUR ete": "café",
    "zoe": "café",
    "energie": "wind",
    '"wind power"': "wind",
    '"energie wind"': "",
    "東京": "tokyo",
    "京都": "tokyo",
    "都": "tokyo",
    "京東": "",
    "東京 カタ": "tokyo",
    "旅*": "tokyo",
    "서울": "seoul",
    "여": "seoul",
    "กรุงเทพ": "bangkok",
    "हिन्दी": "delhi",
    "हिन्द": "",
    "हिन्द*": "delhi",
    "القاهرة": "arabic",
    "елка": "russian",
    "ЕЛКА ЕЩЕ": "russian",
    "ёлка ещё": "russian",
    "is:pinned": "panels",
    "-is:pinned solar": "solar wind",
    "is:archived": "delhi",
    "is:deleted": "",
    "domain:example.org": "café",
    "domain:fr.example.org ete": "café",
    "domain:ample.org": "",
    "tag:ENERGIE": "wind",
    'tag:"wind power"': "wind",
    "-tag:energie solar": "panels solar",
    "before:2025": "bangkok",
    "after:2025 panels": "panels solar wind",
    "before:2024-02-03": "",
    "after:2024-02-03 before:2024-02-04": "bangkok",
    "quality:article": "arabic",
    "quality:bookmark": "russian",
    "-quality:article -quality:bookmark is:archived": "delhi",
    "author:zoe": "café",
    'author:"noel zoe"': "café",
    "-author:zoe cafe": "",
    "author:oel": "",
    "is:read": "",
    "is:unread solar": "panels solar wind",
    "*": "arabic bangkok café delhi panels russian seoul solar tokyo wind",
    "": "arabic bangkok café delhi panels russian seoul solar tokyo wind",
    "'; DROP TABLE items; --": "",
    '" OR ( NEAR * :x %s {head} : & | !': "",
}


@pytest.fixture
def filled(library: Store) -> Store:
    for number, (name, fields) in enumerate(ITEMS.items()):
        library.items.save(make_item(number, user_id=library.user_id, name=name, **fields), None)
    return library


def names(library: Store, query: str, **options: Any) -> list[str]:
    return [hit.item.metadata.extra["name"] for hit in library.search.find(parse_query(query, **options)).hits]


def test_each_query_finds_what_it_says(filled: Store) -> None:
    assert {query: " ".join(sorted(names(filled, query))) for query in QUERIES} == QUERIES


def test_an_item_matches_exactly_the_queries_that_find_it(filled: Store, opened: Callable[..., Store]) -> None:
    items = {item.metadata.extra["name"]: item.id for item in filled.search.find(ItemQuery()).items}
    parsed = {query: parse_query(query) for query in QUERIES}
    matched = {
        query: " ".join(
            sorted(name for name, item_id in items.items() if filled.search.matches(item_id, parsed[query]))
        )
        for query in QUERIES
    }
    assert matched == QUERIES
    other = opened(f"user-{uuid.uuid4()}")
    assert not any(other.search.matches(item_id, ItemQuery()) for item_id in items.values())
    filled.items.delete(items["solar"], NOW)
    assert not filled.search.matches(items["solar"], parse_query("solar"))
    assert filled.search.matches(items["solar"], parse_query("solar is:deleted"))


def test_words_in_the_title_count_most_and_often_more_than_once(library: Store) -> None:
    contents = {
        "once": ("Other", "oak and elm"),
        "often": ("Other", "oak and oak and oak and oak"),
        "title": ("The oak", "a tree"),
        "lost": ("Other", "oak " + "and so on " * 3_000),
    }
    for number, (name, (title, content)) in enumerate(contents.items()):
        library.items.save(make_item(number, user_id=library.user_id, name=name, title=title, content=content), None)
    assert names(library, "oak") == ["title", "often", "once", "lost"]
    ranks = [hit.rank for hit in library.search.find(parse_query("oak")).hits]
    assert ranks == sorted(ranks, reverse=True)


def test_pages_follow_each_other_though_items_come_and_go(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "WINDOW", 4)
    for number in range(14):
        title = "oak" if number in (1, 5) else "tree"
        library.items.save(
            make_item(
                number, user_id=library.user_id, name=str(number), title=title, content="oak " * (number % 3 + 1)
            ),
            None,
        )
    whole = names(library, "oak", limit=100)
    assert whole[:2] == ["5", "1"]
    assert sorted(whole, key=int) == [str(n) for n in range(14)]
    page = library.search.find(parse_query("oak", limit=3))
    found = [hit.item.metadata.extra["name"] for hit in page.hits]
    for step in range(20):
        library.items.save(make_item(100 + step, user_id=library.user_id, name="new", content="oak oak oak"), None)
        if found[-1] != "13":
            library.items.delete(library.items.by_url(f"https://example.com/page/{found[-1]}").id, NOW)  # type: ignore[union-attr]
        if page.next is None:
            break
        page = library.search.find(parse_query("oak", limit=3, after=page.next))
        found += [hit.item.metadata.extra["name"] for hit in page.hits]
    assert found == whole


def test_a_key_of_another_query_is_refused(filled: Store) -> None:
    key = filled.search.find(parse_query("panels", limit=1)).next
    assert key
    with pytest.raises(StoreError, match="key"):
        filled.search.find(parse_query("solar", after=key))


@pytest.mark.parametrize(
    "values",
    [[-(10**18), 0, 9, 0, 1.0, 1], [9, -(10**15), 9, 0, 1.0, 1], [10**30, 0, 9, 0, 1.0, 1], [9, 0, 9, 0, "x", 1], [9]],
)
def test_a_forged_key_is_refused(filled: Store, values: list[Any]) -> None:
    with pytest.raises(StoreError, match="key"):
        filled.search.find(parse_query("solar", after=write_page_key(["search", "solar"], *values)))


def test_a_forged_key_in_range_gives_ones_own_items_or_none(filled: Store) -> None:
    for values in ([2**61, 7, 2**61, 5, float("nan"), 1], [2**61, 1, 5, 2**61, 1e308, 1]):
        found = filled.search.find(parse_query("solar", after=write_page_key(["search", "solar"], *values)))
        assert all(hit.item.user_id == filled.user_id for hit in found.hits)


def test_deleted_items_are_not_found_unless_asked_for(filled: Store) -> None:
    item = filled.search.find(parse_query("barn")).hits[0].item
    filled.items.delete(item.id, NOW)
    assert names(filled, "barn") == []
    assert names(filled, "barn is:deleted") == ["solar"]
    filled.items.purge()
    assert names(filled, "barn is:deleted") == []


def test_the_index_follows_changes_of_text_and_tags(filled: Store) -> None:
    item = filled.search.find(parse_query("barn")).hits[0].item
    filled.items.set_metadata(item.id, NOW, tags=("Farm",))
    assert names(filled, "farm") == names(filled, "tag:farm") == ["solar"]
    filled.items.set_metadata(item.id, NOW, tags=())
    assert names(filled, "farm") == names(filled, "tag:farm") == []
    filled.items.save(make_item(0, user_id=filled.user_id, title="Byre", content="Cows", name="solar"), None)
    assert names(filled, "barn") == []
    assert names(filled, "cow*") == ["solar"]


def test_hits_come_with_a_snippet(filled: Store) -> None:
    assert filled.search.find(parse_query("barn roof")).hits[0].snippet == "Sun Panels on the [[roof]] of a [[barn]]."
    assert filled.search.find(parse_query("ete")).hits[0].snippet == "Le cœur de l’[[été]]"
    assert filled.search.find(parse_query("京都")).hits[0].snippet == "東[[京都]]に住んでいます。カタカナ。"
    assert filled.search.find(parse_query("noel")).hits[0].snippet == "Zoë [[Noël]]"


@pytest.mark.parametrize("query", ["before:yesterday", "is:blue", "quality:good", "after:2025-1"])
def test_a_filter_that_cannot_be_is_refused_with_advice(library: Store, query: str) -> None:
    with pytest.raises(StoreError) as caught:
        library.search.find(parse_query(query))
    assert caught.value.suggestions


def test_saved_moments_are_compared_to_the_second(library: Store) -> None:
    library.items.save(make_item(user_id=library.user_id, saved_at=moment(10)), None)
    assert library.search.find(parse_query("after:2025-03-19T00:10:00 before:2025-03-19T00:10:01")).hits
    assert not library.search.find(parse_query("after:2025-03-19T00:11")).hits


def test_a_search_that_takes_too_long_is_ended(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for begin in range(0, 3_000, 500):
        items = [make_item(n, user_id=library.user_id, content="some words " * 20) for n in range(begin, begin + 500)]
        library.items.save_many([NewItem(item) for item in items], lambda old, _new: old)
    monkeypatch.setattr(find, "MAX_SECONDS", 0.001)
    with pytest.raises(InvalidQuery, match="too long"):
        library.search.find(parse_query("some words lang:xx -is:pinned -tag:x"))
    monkeypatch.undo()
    assert library.search.find(parse_query("some words")).hits
