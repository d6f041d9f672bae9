"""How a page becomes an item, and which of two readings is the better."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pagekeep
from pagekeep.library.items import build_item
from pagekeep.model import Fetched, Item, ItemMetadata, Page, QualityLevel
from tests.site.fixtures import ARTICLE

FETCHED = Fetched("https://example.com/a", "https://example.com/a", 200, {}, ARTICLE.encode(), etag='"7"')


def item_of(page: Page, saved_at: str | None = None, url: str = "https://example.com/a") -> Item:
    now = "2025-03-19T10:30:00Z"
    return build_item.new_item(
        page, FETCHED, url=url, url_full=url, user_id="keeper", now=now, saved_at=saved_at, tags=()
    )


def test_a_discarded_page_is_archived_and_flagged() -> None:
    page = pagekeep.extract(ARTICLE)
    discarded = item_of(replace(page, quality=replace(page.quality, level="discarded")))
    assert (discarded.metadata.archived, discarded.metadata.discarded) == (True, True)
    assert (item_of(page).metadata.archived, item_of(page).metadata.discarded) == (None, False)


def test_a_page_without_a_title_takes_its_domain_and_a_file_its_name() -> None:
    page = pagekeep.extract("<p>Nothing to see.", "https://www.example.com/a")
    assert item_of(page).title == "example.com"
    assert "\ntitle: example.com\n" in page.document
    assert item_of(page, url="https://file.invalid/daceb36d9581/a%20page.html").title == "a page.html"


def test_the_hash_is_of_the_content_and_not_of_the_moment() -> None:
    page = pagekeep.extract(ARTICLE)
    early, late = item_of(page, "2024-01-01T00:00:00Z"), item_of(page, "2025-01-01T00:00:00Z")
    assert "saved_at: 2024-01-01T00:00:00Z" in early.content
    assert "saved_at: 2025-01-01T00:00:00Z" in late.content
    assert early.metadata.content_hash == late.metadata.content_hash


def test_lone_surrogates_do_no_harm() -> None:
    assert item_of(pagekeep.extract(ARTICLE.replace("kettle", "\ud800"))).metadata.content_hash


def test_a_kept_page_is_what_was_fetched() -> None:
    again = build_item.to_fetched(build_item.to_raw_page(FETCHED, "2025-03-19T10:30:00Z"))
    assert again == FETCHED


def reading(level: QualityLevel | None, words: int = 100) -> ItemMetadata:
    return ItemMetadata(quality=level, word_count=words)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (reading("simplified", 900), reading("article", 100)),
        (reading("bookmark"), reading("simplified")),
        (reading("discarded"), reading("bookmark")),
        (reading("article", 49), reading("article", 100)),
    ],
)
def test_a_lower_level_or_under_half_the_words_is_worse(new: ItemMetadata, old: ItemMetadata) -> None:
    assert build_item.why_worse(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (reading("article", 100), reading("simplified", 900)),
        (reading("article", 50), reading("article", 100)),
        (reading("bookmark", 0), reading("bookmark", 0)),
        (reading("bookmark", 0), ItemMetadata()),
        (reading("bookmark", 0), reading(None)),
    ],
)
def test_anything_else_may_replace_what_is_there(new: ItemMetadata, old: ItemMetadata) -> None:
    assert build_item.why_worse(new, old) is None
