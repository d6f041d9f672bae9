"""A crawl of a maze: every page once, no trap beyond its bound, and the same files however often it was killed."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import Conflict, NotFound
from pagekeep.library.crawl import addresses
from pagekeep.library.crawl import addresses as traps
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import cancel_crawl, find_crawl, list_problems, read_pages, resume_crawl, start_crawl
from pagekeep.store import Store, open_store
from tests.library.crawl.conftest import Crawled, Run, Write
from tests.site.maze import LASTMOD, TRAPS, Maze

BOUNDS = {
    "calendar": traps.MAX_CALENDAR,
    "events": 2 * traps.MAX_CALENDAR,  # two orders of its parameters
    "shop": 5,
    "store": 3,
    "loop": 2**6,
    "deep": addresses.MAX_SEGMENTS,
    "filter": 2 * traps.MAX_FACETS,
    "ring": 3,
    "hop": traps.MAX_HOPS + 1,
    "echo": 4,
    "list": traps.MAX_CHAIN + 2,
    "table": 1,
    "grow": addresses.MAX_ADDRESS_CHARS // 60 + 1,
}
"""Requests that each trap may get."""


@pytest.fixture
def library(tmp_path: Path) -> Store:  # type: ignore[misc]
    with closing(open_store(tmp_path / "library.db", "keeper")) as store:
        yield store


def test_every_page_that_can_be_reached_is_kept_once(crawled: Crawled) -> None:
    assert (crawled.crawl.state, crawled.crawl.reason) == ("done", "finished")
    kept = [page.url for page in read_pages(crawled.library, crawled.crawl.id)]
    assert len(kept) == len(set(kept)) == crawled.crawl.kept
    assert crawled.maze.expected() - set(kept) == set()
    others = {url.split("/")[3].partition("?")[0] for url in set(kept) - crawled.maze.expected()}
    assert others <= set(TRAPS)


def test_no_address_is_requested_twice_unless_it_failed(crawled: Crawled) -> None:
    for host, targets in enumerate(crawled.requests):
        twice = {target for target, number in Counter(targets).items() if number > 1}
        failing = {name for number, name in crawled.maze.dead | crawled.maze.flaky if number == host}
        assert twice <= failing
        assert {target for target, number in Counter(targets).items() if number > 3} == set()


def test_no_trap_is_entered_beyond_its_bound(crawled: Crawled) -> None:
    asked = Counter(target.split("/")[1].partition("?")[0] for target in crawled.requests[0])
    assert set(TRAPS) <= set(asked)
    assert {name: asked[name] for name in TRAPS if asked[name] > BOUNDS[name]} == {}
    assert {
        "session_id",
        "sort_order",
        "repeating_path",
        "same_content",
        "redirect_ring",
        "redirect_chain",
        "facets",
    } <= set(crawled.crawl.counts["traps"])


def test_what_robots_txt_forbids_and_files_are_not_requested(crawled: Crawled) -> None:
    asked = {target for targets in crawled.requests for target in targets}
    assert not {target for target in asked if target.startswith(("/private", "/files"))}
    assert crawled.crawl.counts["left_out"]["robots"] == 3


def test_problems_are_listed_with_their_reasons(crawled: Crawled) -> None:
    problems = list_problems(crawled.library, crawled.crawl.id, limit=1000)
    dead = {crawled.maze.urls[host] + name for host, name in crawled.maze.dead}
    assert {page.requested for page in problems if page.outcome == "failed"} == dead
    assert {page.facts["reason"] for page in problems if page.outcome == "missing"} == {
        "The server answered with status 404."
    }


def test_pages_have_what_a_reader_needs(crawled: Crawled) -> None:
    pages = list(read_pages(crawled.library, crawled.crawl.id))
    assert [page.position for page in pages] == sorted(page.position for page in pages)
    page = next(page for page in pages if page.url.endswith("/s0/p3-1.html"))
    assert page.content["title"] == "Page 3 of section 0 on 1"
    assert "harbour" in page.content["markdown"]
    last = next(page for page in pages if page.via == "sitemap")
    assert last.lastmod == "2025-02-03"


def test_killed_and_resumed_it_writes_the_same_files(
    crawled: Crawled, run: Run, write: Write, library: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    kills = 0
    while kills < 6 and run(library, crawled.options, seconds=0.15 + 0.05 * kills, killed=True).state == "running":
        kills += 1
    assert kills
    done = library.crawls.list(1)[0] if kills < 6 else run(library, crawled.options)
    for kind in ("jsonl", "warc"):
        once, often = tmp_path / f"once.{kind}", tmp_path / f"often.{kind}"
        assert write(crawled.library, crawled.crawl, kind, once) == crawled.crawl.kept
        write(library, done, kind, often)
        assert once.read_bytes() == often.read_bytes()
    assert done.counts == crawled.crawl.counts


def test_the_limit_of_pages_takes_the_first_and_can_be_raised(crawled: Crawled, run: Run, library: Store) -> None:
    options = CrawlOptions(crawled.options.seeds, pages=20, depth=8)
    crawl = run(library, options)
    assert (crawl.state, crawl.reason, crawl.kept) == ("done", "pages", 20)
    first = [page.url for page in read_pages(crawled.library, crawled.crawl.id)]
    assert [page.url for page in read_pages(library, crawl.id)] == first[:20]
    more = resume_crawl(library, crawl.id, pages=30)
    assert more.state == "running"
    assert run(library, CrawlOptions(crawled.options.seeds, pages=30, depth=8)).kept == 30
    assert [page.url for page in read_pages(library, crawl.id)] == first[:30]


def test_the_limit_of_bytes_ends_at_the_same_page(crawled: Crawled, run: Run, library: Store) -> None:
    crawl = run(library, CrawlOptions(crawled.options.seeds, bytes=20_000, depth=8))
    assert (crawl.state, crawl.reason) == ("done", "bytes")
    first = [page.url for page in read_pages(crawled.library, crawled.crawl.id)]
    assert [page.url for page in read_pages(library, crawl.id)] == first[: crawl.kept]


def test_the_next_run_fetches_only_what_changed(
    maze: Maze, run: Run, write: Write, library: Store, tmp_path: Path
) -> None:
    maze.etags = True
    try:
        options = CrawlOptions((f"{maze.urls[2]}/s0/",))
        first = run(library, options)
        write(library, first, "jsonl", tmp_path / "first")
        again = run(library, options)
    finally:
        maze.etags = False
    write(library, again, "jsonl", tmp_path / "again")
    assert (again.id, again.run, again.kept) == (first.id, 2, first.kept)
    one, other = ((tmp_path / name).read_text("utf-8").splitlines() for name in ("first", "again"))
    assert [json.loads(line)["markdown"] for line in one] == [json.loads(line)["markdown"] for line in other]


def test_a_path_keeps_the_crawl_below_it(maze: Maze, run: Run, library: Store) -> None:
    crawl = run(library, CrawlOptions((f"{maze.urls[1]}/s1/",), exclude=("*p1*",)))
    kept = [page.url for page in read_pages(library, crawl.id)]
    assert len(kept) > 5
    assert {url.rpartition("/")[0] for url in kept} == {f"{maze.urls[1]}/s1"}
    assert not [url for url in kept if "p1" in url]
    assert crawl.counts["left_out"]["excluded"] > 0
    assert crawl.counts["left_out"]["off_path"] > 0


def test_a_crawl_is_found_by_its_id_or_url_and_cancelled(library: Store) -> None:
    crawl = start_crawl(library, CrawlOptions(("http://127.0.0.1:1/docs/",)))
    assert find_crawl(library, crawl.id[:8]).id == find_crawl(library, "http://127.0.0.1:1/docs/").id == crawl.id
    assert cancel_crawl(library, crawl.id).state == "cancelled"
    assert start_crawl(library, CrawlOptions(("http://127.0.0.1:1/docs/#top",), pages=5)).id == crawl.id
    with pytest.raises(NotFound):
        find_crawl(library, "nothing")


def test_a_finished_crawl_has_nothing_to_resume(crawled: Crawled) -> None:
    with pytest.raises(Conflict):
        resume_crawl(crawled.library, crawled.crawl.id)


def test_a_page_that_its_sitemap_calls_unchanged_is_not_requested_again(
    maze: Maze, run: Run, any_library: Store
) -> None:
    options = CrawlOptions((f"{maze.urls[2]}/",), sitemap="only")

    def requests() -> list[str]:
        maze.reset()
        crawl = run(any_library, options)
        assert crawl.state == "done"
        return [target for target in maze.logs[2].targets if target.startswith("/s") and target.endswith(".html")]

    listed = maze.names[2][-5:]
    assert set(requests()) == set(listed)
    (crawl,) = any_library.crawls.list()
    first = {page.url: page.fetched_at for page in read_pages(any_library, crawl.id)}
    assert requests() == []
    again = {page.url: page.fetched_at for page in read_pages(any_library, crawl.id)}
    assert {url: at for url, at in again.items() if url in first and url.endswith(".html")} == {
        url: at for url, at in first.items() if url.endswith(".html")
    }
    maze.lastmod = "2099-01-01"
    try:
        assert set(requests()) == set(listed)
    finally:
        maze.lastmod = LASTMOD
