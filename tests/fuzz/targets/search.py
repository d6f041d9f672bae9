"""Search queries: any text is a search or refused, and both databases find the same, in the same order, page by page.

An input is a query, and after a line feed the key of a page, which a client could forge.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from pagekeep.errors import InvalidQuery
from pagekeep.library.feeds.inbox import search_items
from pagekeep.library.items.find import item_matches, search_slice
from pagekeep.model import NewItem
from pagekeep.store import Store, open_store
from tests.fuzz.target import Target, expect, unescape
from tests.store.making import make_item, moment, postgres_server

USER = "searcher"
_PLACES = "PAGEKEEP_FUZZ_LIBRARIES"
_TEXTS = (
    ("The harbour at dawn", "He counts the ships, and the gulls count him.", "Ann Lee", ["sea", "Größe"]),
    ("灯台の記録", "毎朝の水位と風と通り過ぎた船を書き留めた。", "Jörg Ötzi", ["日本"]),
    ("C++ std::vector and ~tilde", "a*b 'quote' \"double\" 100% under_score back\\slash x:y", None, ["c++", "a b"]),
    ("Solar panels", "Solar panels and wind power, panels panels.", "ADA", ["energy", "to-read"]),
    ("Empty", "", None, []),
    ("العربية", "نص قصير عن البحر", None, ["é", "e\u0301"]),
)


@contextmanager
def opened() -> Iterator[dict[str, str]]:
    """Have the same items in a library of each kind."""
    items = [
        make_item(
            number,
            user_id=USER,
            title=f"{title} {number}",
            content=content * (1 + number % 3),
            author=author,
            tags=tags,
            saved_at=moment(number),
            domain=("example.com", "sub.example.com", "例え.jp")[number % 3],
            published_at=("2025-03-19T00:00:00.000000Z", None)[number % 2],
            pinned=number % 4 == 0,
            archived=number % 5 == 0,
            language=("en", "de", None)[number % 3],
        )
        for number, (title, content, author, tags) in enumerate(_TEXTS * 3)
    ]
    with tempfile.TemporaryDirectory() as folder, postgres_server() as server:
        places = (str(Path(folder) / "library.db"), server.app)
        for where in places:
            with closing(open_store(where, USER)) as store:
                store.items.save_many([NewItem(item) for item in items], lambda old, _new: old)
        yield {_PLACES: "\n".join(places)}


@cache
def _stores() -> tuple[Store, ...]:
    return tuple(open_store(where, USER) for where in os.environ[_PLACES].split("\n"))


def check(data: bytes) -> None:
    """Search in both libraries, and compare."""
    first, _, second = data.partition(b"\n")
    text, key = unescape(first), unescape(second)
    sqlite, postgres = (_found(store, text) for store in _stores())
    expect(sqlite == postgres, "the databases find different items", (text, sqlite, postgres))
    for store in _stores():
        with suppress(InvalidQuery):
            search_slice(store, text, 2, 3)
            search_items(store, text, order="title", limit=3)
            if key:
                search_items(store, text, after=key)


def _found(store: Store, text: str) -> list[str] | str:
    """Return the titles of all hits; or the error."""
    titles, ids, after = [], set(), None
    try:
        for _ in range(20):
            page = search_items(store, text, limit=5, after=after)
            titles += [hit.item.title for hit in page.hits]
            ids |= {hit.item.id for hit in page.hits}
            after = page.next
            if after is None:
                break
        if "feed:" not in text:
            for item_id in ids:
                expect(item_matches(store, item_id, text), "a hit that does not match", (text, titles))
    except InvalidQuery as error:
        return error.message
    expect(len(ids) == len(titles), "an item is found twice", (text, titles))
    return titles


def seeds() -> Iterator[bytes]:
    """Yield queries of every kind."""
    yield from (
        query.encode()
        for query in (
            'solar "wind power" -coal pan*',
            "is:pinned -is:archived is:unread is:failed",
            "domain:example.com tag:energy -tag:sea",
            'author:"ann lee" lang:de',
            "before:2025-03-20 after:2025-03-18T10:00:00Z",
            "published:2025-03 published-after:2024 published-before:2026-01-01",
            "changed:2025 quality:article list:reading",
            "feed:all harbour",
            'tag:"c++" std::vector https://example.com/page',
            "灯台 船 العربية Größe",
            "a* e* 1* -h*",
            "harbour\n" + "WyJzZWFyY2giLCAiaGFyYm91ciIsIDE5LCAxLCAxOSwgMCwgMS4wLCAzXQ",
            "x' OR '1'='1 -- ; DROP TABLE items",
            'NEAR(a b) AND OR NOT "*" ^a {b} (c)',
            "a & b | !c <-> d :* \\",
        )
    )


TARGET = Target(
    check,
    seeds,
    max_bytes=400,
    opened=opened,
    words=(
        *(
            b"is:",
            b"tag:",
            b"domain:",
            b"author:",
            b"lang:",
            b"list:",
            b"before:",
            b"after:",
            b"changed:",
            b"published:",
            b"feed:",
        ),
        *(
            b"published-after:",
            b"published-before:",
            b"quality:",
            b'"',
            b"*",
            b"-",
            b"pinned",
            b"unread",
            b"2025-03-19",
            b"0000",
        ),
        *(
            b"\xef\xbc\x9a",
            b"\xcc\x81",
            b"\xe2\x80\x8b",
            b"\0",
            b"%",
            b"_",
            b"\\",
            b"'",
            b"\n",
            b"T24:00:00Z",
            b"9999-99-99",
        ),
    ),
)
