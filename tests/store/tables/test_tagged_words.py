"""Searches find the words of tags, though no index of texts has them: compared with all items, one by one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pagekeep.model import Item, Term
from pagekeep.store import Store, parse_query
from pagekeep.store.query import words
from pagekeep.store.tables import find
from tests.store.making import NOW, make_item

WORDS = ("sea", "tide", "solar", "solstice", "wind", "harbour", "lamp")


def _fields(item: Item) -> tuple[list[str], list[str]]:
    """Return the head and the body of an item as texts of search words."""
    head = [item.title, item.author or "", *item.metadata.tags]
    return [f" {' '.join(words(text))} " for text in head], [f" {' '.join(words(item.content))} "]


def _has(term: Term, texts: list[str]) -> bool:
    wanted = f" {' '.join(term.words)}" + ("" if term.prefix else " ")
    return any(wanted in text for text in texts)


def _expected(items: list[Item], query: str) -> tuple[set[str], set[str]]:
    """Return the titles that must be found: with all terms in their heads, and the others."""
    parsed = parse_query(query)
    first, others = set[str](), set[str]()
    for item in items:
        head, body = _fields(item)
        if item.deleted_at or any(_has(term, head + body) for term in parsed.excluded):
            continue
        if all(_has(term, head) for term in parsed.terms):
            first.add(item.id)
        elif all(_has(term, head + body) for term in parsed.terms):
            others.add(item.id)
    return first, others


@pytest.mark.parametrize("window", [3, 200])
def test_words_of_titles_texts_and_tags_are_found_together(
    library: Store, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "WINDOW", window)
    chance = random.Random(window)

    def text(most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, most)))

    items = []
    for number in range(40):
        tags = [text(2).title() for _ in range(chance.randint(0, 3))]
        made = make_item(number, title=text(2), content=text(4), tags=tags, user_id=library.user_id)
        items.append(library.items.save(made, None))
    for item in chance.sample(items, 8):
        library.items.set_metadata(item.id, NOW, tags=(text(2),))
    library.items.delete(items[0].id, NOW)
    items = [library.items.get(item.id) for item in items]
    queries = ["sea", "so*", '"solar wind"', "sea tide", "sol* lamp", "sea -tide", '-"sea tide"', "wind solar harbour"]
    queries += [
        " ".join(chance.choices([*WORDS, "so*", "-lamp", '"sea tide"'], k=chance.randint(1, 3))) for _ in range(30)
    ]
    for query in queries:
        if not parse_query(query).terms and not parse_query(query).excluded:
            continue
        first, others = _expected(items, query)
        found: list[str] = []
        key = None
        while True:
            page = library.search.find(replace(parse_query(query), limit=4, after=key))
            found += [item.id for item in page.items]
            key = page.next
            if key is None:
                break
        assert len(found) == len(set(found)), query
        assert set(found) == first | others, query
        if parse_query(query).terms:
            assert set(found[: len(first)]) == first, query


def test_one_tag_indexes_no_text_again(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    item = library.items.save(make_item(tags=["old"], user_id=library.user_id), None)
    engine = library._engine
    kind = engine.write(type)
    monkeypatch.setattr(kind, "put_words", lambda *_: pytest.fail("The text was indexed again."))
    changed = library.items.set_metadata(item.id, NOW, tags=("new",))
    assert [found.id for found in library.search.find(parse_query("new")).items] == [changed.id]
    assert library.search.find(parse_query("old")).items == ()
