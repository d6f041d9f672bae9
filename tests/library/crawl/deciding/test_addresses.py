"""Addresses of a crawl: what is left out of them, and which patterns have no end."""

from __future__ import annotations

import pytest

from pagekeep.library.crawl import addresses
from pagekeep.library.crawl.addresses import CrawlOptions, make_scope

SITE = "https://example.org"


@pytest.mark.parametrize(
    ("given", "tidy", "stripped"),
    [
        ("/a?b=1#top", "/a?b=1", None),
        ("/a?PHPSESSID=0123456789abcdef&b=1", "/a?b=1", "session_id"),
        ("/a;jsessionid=AB12/b?c=1", "/a/b?c=1", "session_id"),
        ("/a?s=lamp", "/a?s=lamp", None),
        ("/a?s=3f2a9c3f2a9c3f2a9c", "/a", "session_id"),
        ("/a?sort=name&order=desc&page=2", "/a?page=2", "sort_order"),
        ("/a?order=1234", "/a?order=1234", None),
        ("/a?utm_source=mail", "/a", None),
    ],
)
def test_an_address_is_tidied(given: str, tidy: str, stripped: str | None) -> None:
    assert addresses.tidy(SITE + given) == (SITE + tidy, stripped)


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/docs/guide/start", None),
        ("/2024/01/01/01/news", None),
        ("/a/b/a/b/a/b/", "repeating_path"),
        ("/" + "/".join(f"w{number}" for number in range(21)), "deep_path"),
        ("/a?" + "x" * 1000, "long_address"),
        ("/a?" + "&".join(f"p{number}=1" for number in range(9)), "many_parameters"),
    ],
)
def test_a_pattern_without_end_is_seen_in_the_address(path: str, trap: str | None) -> None:
    assert addresses.find_trap(SITE + path) == trap


@pytest.mark.parametrize(
    ("path", "calendar"),
    [
        ("/calendar/2024/05/", True),
        ("/events?year=2024&month=5", True),
        ("/events?date=2024-05-01", True),
        ("/2024/05/a-story", False),
        ("/docs/5", False),
    ],
)
def test_a_calendar_is_recognised(path: str, calendar: bool) -> None:
    assert addresses.is_calendar(SITE + path) is calendar


@pytest.mark.parametrize(
    ("seed", "url", "reason"),
    [
        ("/docs/guide.html", "/docs/other.html", None),
        ("/docs/guide.html", "/blog/", "off_path"),
        ("/docs", "/docs", None),
        ("/docs", "/docs/a", None),
        ("/docs", "/docs-old/a", "off_path"),
        ("/", "/anything?x=1", None),
    ],
)
def test_a_seed_sets_the_folder(seed: str, url: str, reason: str | None) -> None:
    scope = make_scope(CrawlOptions((SITE + seed,)), frozenset({"example.org"}))
    assert scope.reject(SITE + url) == reason
    assert scope.reject(f"https://elsewhere.org{url}") == "off_site"


def test_patterns_decide_instead_of_the_folder() -> None:
    options = CrawlOptions((f"{SITE}/docs/",), include=("/blog/*", "*/news/*"), exclude=("*draft*",))
    scope = make_scope(options, frozenset({"example.org"}))
    found = {path: scope.reject(SITE + path) for path in ("/docs/a", "/blog/a", "/x/news/a", "/blog/draft-1")}
    assert found == {"/docs/a": "not_included", "/blog/a": None, "/x/news/a": None, "/blog/draft-1": "excluded"}
