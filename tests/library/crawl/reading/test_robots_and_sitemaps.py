"""robots.txt and sitemaps, as they are read in workers."""

from __future__ import annotations

import gzip
import json

import pytest

from pagekeep.library.crawl.addresses import CrawlOptions, make_scope
from pagekeep.library.crawl.sitemaps import (
    MAX_ADDRESSES,
    MAX_DELAY,
    RobotsTask,
    SitemapTask,
    agent_of,
    allows,
    may_be_newer,
)

SITE = "https://example.org"
SCOPE = make_scope(CrawlOptions((f"{SITE}/",)), frozenset({"example.org"}))
ROBOTS = b"""User-agent: pagekeep
Crawl-delay: 2.5
Disallow: /private/
Allow: /private/open
User-agent: *
Disallow: /
Sitemap: https://example.org/map.xml
"""


def test_robots_txt_is_read_for_our_name() -> None:
    agent = agent_of("Pagekeep/1.0 (saves a page)")
    found = RobotsTask(ROBOTS, agent).run()
    assert (found.delay, found.sitemaps) == (2.5, (f"{SITE}/map.xml",))
    texts = {"example.org": found.text}
    paths = ("/a", "/private/a", "/private/open")
    assert [allows(texts, "example.org", SITE + path, agent) for path in paths] == [True, False, True]
    assert not allows(texts, "example.org", f"{SITE}/a", "otherbot")


def test_odd_robots_txt_raises_nothing() -> None:
    assert RobotsTask(b"\xff\xfe\x00<html>Not found", "pagekeep").run().delay == 0.0
    assert RobotsTask(b"User-agent: *\nCrawl-delay: 99999", "pagekeep").run().delay == MAX_DELAY


def read(body: bytes) -> tuple[list[list[str | None]], dict[str, int], str | None]:
    links, left_out, fault = SitemapTask(body, SCOPE, {"example.org": ROBOTS.decode()}, "pagekeep").run()
    return json.loads(links), dict(left_out), fault


def urlset(*entries: str) -> bytes:
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'.encode()


def test_a_sitemap_gives_addresses_in_scope_with_their_times() -> None:
    entries = (
        f"<url><loc> {SITE}/a </loc><lastmod>2025-01-02</lastmod></url>",
        f"<url><loc>{SITE}/private/b</loc></url>",
        "<url><loc>https://elsewhere.org/c</loc></url>",
        f"<url><loc>{SITE}/d.png</loc></url>",
    )
    found, left_out, fault = read(gzip.compress(urlset(*entries)))
    assert found == [[f"{SITE}/a", "page", "2025-01-02"]]
    assert (left_out, fault) == ({"robots": 1, "off_site": 1, "file": 1}, None)


def test_an_index_and_a_plain_list_are_read() -> None:
    index = f"<sitemapindex><sitemap><loc>{SITE}/one.xml</loc></sitemap></sitemapindex>".encode()
    assert read(index)[0] == [[f"{SITE}/one.xml", "sitemap", None]]
    assert read(f"{SITE}/a\n\n{SITE}/b\n".encode())[0] == [[f"{SITE}/a", "page", None], [f"{SITE}/b", "page", None]]


def test_a_damaged_sitemap_gives_what_was_read_and_bombs_nothing() -> None:
    found, _, fault = read(urlset(f"<url><loc>{SITE}/a</loc></url>")[:-9] + b"<url")
    assert found == [[f"{SITE}/a", "page", None]]
    assert fault is not None
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + urlset("<url><loc>&b;</loc></url>")
    assert read(bomb)[0] == []
    assert (
        len(read(urlset(*(f"<url><loc>{SITE}/{n}</loc></url>" for n in range(MAX_ADDRESSES + 9))))[0]) == MAX_ADDRESSES
    )


@pytest.mark.parametrize(
    ("lastmod", "newer"),
    [
        ("2025-03-01T10:00:00Z", False),
        ("2025-03-02T10:00:00+02:00", False),
        ("2025-03-02T13:00:00Z", True),
        ("2025-03-02", True),
        ("2025-03-01", False),  # it ended everywhere on earth
        ("2025-02-28", False),
        ("2025-03-01T20:00", False),
        ("2025-03-02T02:00", True),
        ("2099-01-01", True),
        ("last week", True),
        ("2025-02", True),
        ("", True),
    ],
)
def test_a_page_is_fetched_again_unless_its_sitemap_is_older_than_our_copy(lastmod: str, newer: bool) -> None:
    assert may_be_newer(lastmod, "2025-03-02T12:00:00.000000Z") is newer
