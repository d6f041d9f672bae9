"""Events of a crawl: each once in the outbox of its webhook, however often its workers are killed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import cancel_crawl, read_pages, remove_crawl, start_crawl
from pagekeep.library.sinks.kinds import firecrawl
from pagekeep.library.sinks.kinds.firecrawl import MAX_WEBHOOKS, Webhook, add_webhook, report_start
from pagekeep.store import Store
from tests.library.crawl.conftest import SETTINGS, Run
from tests.site.maze import Maze

HOOK = Webhook("https://example.com/hook", "crawl", ("markdown",))


def types(library: Store, sink: str) -> list[str]:
    return [str((one.body or {})["type"]) for one in library.outbox.list(sink, limit=1_000)]


def test_every_page_is_reported_once_by_a_crawl_that_is_killed(maze: Maze, run: Run, any_library: Store) -> None:
    sink = add_webhook(any_library, SETTINGS, HOOK)
    options = CrawlOptions((f"{maze.urls[2]}/s0/",), webhook=sink)
    for number in range(6):
        if run(any_library, options, seconds=0.1 + 0.05 * number, killed=True).state != "running":
            break
    else:
        run(any_library, options)
    (crawl,) = any_library.crawls.list()
    found = types(any_library, sink)
    assert (found[0], found[-1]) == ("started", "completed")
    assert Counter(found) == {"started": 1, "page": crawl.kept, "completed": 1}
    positions = [
        one.body["position"] for one in any_library.outbox.list(sink, limit=1_000) if "position" in (one.body or {})
    ]  # type: ignore[index]
    assert positions == [page.position for page in read_pages(any_library, crawl.id)]


def test_a_cancelled_crawl_reports_its_failure_and_a_removed_one_nothing(any_library: Store) -> None:
    sink = add_webhook(any_library, SETTINGS, HOOK)
    crawl = start_crawl(any_library, CrawlOptions(("https://example.com/",), webhook=sink))
    report_start(any_library, crawl)
    assert types(any_library, sink) == []  # its first decision reports the start
    report_start(any_library, replace(crawl, settled=3))
    cancel_crawl(any_library, crawl.id)
    assert types(any_library, sink) == ["started", "failed"]
    remove_crawl(any_library, crawl.id)
    assert not any_library.sinks.list()


def test_a_crawl_whose_webhook_was_given_up_goes_on(maze: Maze, run: Run, any_library: Store) -> None:
    sink = add_webhook(any_library, SETTINGS, HOOK)
    any_library.sinks.remove(sink)
    crawl = run(any_library, CrawlOptions((f"{maze.urls[2]}/s1/",), pages=3, webhook=sink))
    assert (crawl.state, crawl.kept) == ("done", 3)


def test_the_oldest_webhooks_are_given_up(any_library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(firecrawl, "MAX_WEBHOOKS", 3)
    assert MAX_WEBHOOKS == 100
    made = [add_webhook(any_library, SETTINGS, HOOK) for _ in range(5)]
    assert {sink.id for sink in any_library.sinks.list()} == set(made[2:])
