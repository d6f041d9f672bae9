"""Start, list, cancel, resume and remove crawls."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import Conflict, NotFound
from pagekeep.library.crawl.deciding.settle import first_addresses
from pagekeep.library.crawl.options import CrawlOptions, check, from_json
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store

_MAX_CRAWLS: Final = 10_000
"""Crawls among which the beginning of an id is looked up."""
LIMITS: Final = ("depth", "pages", "bytes", "minutes")
"""Options that can be changed when a crawl goes on."""


def start_crawl(store: Store, options: CrawlOptions) -> Crawl:
    """Return a crawl for these options: a new one, the one that is not done, or the next run of one that is.

    A crawl with the same seeds and patterns is the same crawl; when it is run again it updates its pages.
    """
    options = check(options)
    first, counts = first_addresses(options)
    return store.start_crawl(options.name, options.seeds[0], options.to_json(), first, counts, clock.now())


def list_crawls(store: Store, limit: int = 100) -> tuple[Crawl, ...]:
    """Return the user's crawls, the one that was started last first."""
    return store.crawls(limit)


def get_crawl(store: Store, crawl_id: str) -> Crawl:
    """Return a crawl; `NotFound` when there is none."""
    return store.crawl(crawl_id)


def find_crawl(store: Store, prefix: str) -> Crawl:
    """Return the crawl whose id starts with the prefix, or whose first seed is this URL."""
    found = [crawl for crawl in store.crawls(_MAX_CRAWLS) if crawl.id.startswith(prefix) or crawl.url == prefix]
    if len(found) != 1:
        raise NotFound(
            f"There is {'no' if not found else 'more than one'} crawl {prefix!r:.200}.",
            suggestions=("Look for its id in the list of crawls.",),
        )
    return found[0]


def cancel_crawl(store: Store, crawl_id: str) -> Crawl:
    """End a running crawl; its pages stay, and it can be resumed."""
    return store.cancel_crawl(crawl_id, clock.now())


def resume_crawl(store: Store, crawl_id: str, **limits: Any) -> Crawl:
    """Let a crawl go on where it ended, with larger limits if given. A finished one has nothing left to do."""
    crawl = store.crawl(crawl_id)
    if crawl.state == "running" and not limits:
        return crawl
    if crawl.state == "done" and crawl.settled >= crawl.admitted:
        raise Conflict(
            f"The crawl of {crawl.url} is finished.",
            suggestions=("To update its pages, start it again with its URL.",),
        )
    options = check(replace(from_json(crawl.options), **limits))
    return store.resume_crawl(crawl.id, options.to_json(), clock.now())


def remove_crawl(store: Store, crawl_id: str) -> None:
    """Delete a crawl with its pages; pages that were saved into the library stay."""
    webhook = store.crawl(crawl_id).options.get("webhook")
    store.remove_crawl(crawl_id)
    if webhook:
        store.remove_sink(webhook)


def option_names() -> tuple[str, ...]:
    """Return the names of all options of a crawl."""
    return tuple(field.name for field in fields(CrawlOptions))


def start_again(store: Store, crawl_id: str) -> Crawl:
    """Update the pages of a crawl that is done, with the same options."""
    return start_crawl(store, replace(from_json(store.crawl(crawl_id).options), webhook=None))
