"""A crawl in the store, step by step, with our own decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pagekeep.model.crawl import Body, Crawl, Decision, Found, NewAddress, Pace, Settlement, Visit
from pagekeep.store import Store
from pagekeep.store.blob_files import pack
from pagekeep.store.storable import url_hash
from tests.store.making import NOW, moment

HOST = "example.com"


def address(name: str, **values: Any) -> NewAddress:
    url = f"https://{HOST}/{name}"
    return NewAddress(url, url_hash(url), HOST, **values)


class Plain:
    """Keeps every page, follows every link, and asks again at once."""

    def __init__(self, delay: float = 0.0, pages: int = 1000) -> None:
        self.delay = delay
        self.pages = pages

    def decide(self, crawl: Crawl, found: Sequence[Found], lookup: Any, now: str) -> Settlement:
        links = [link for one in found for link in one.links]
        known = lookup.known({address(link).url_hash for link in links})
        fresh = [address(link) for link in dict.fromkeys(links) if address(link).url_hash not in known]
        decisions = tuple(Decision(one.page.position, "kept", url_hash(one.page.url), None) for one in found)
        done = crawl.settled + len(decisions) == crawl.admitted + len(fresh)
        numbers = {"calendar": lookup.numbers({"calendar"}).get("calendar", 0) + len(found)} if found else {}
        kept = crawl.kept + len(found)
        return Settlement(
            decisions,
            tuple(fresh),
            numbers,
            {"outcomes": {"kept": kept}},
            kept,
            crawl.size,
            "done" if done else "running",
        )

    def hosts(self, crawl: Crawl) -> dict[str, float]:
        return {HOST: self.delay}

    def pace(self, before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
        return Pace(visit.busy or 0.0, before.streak + 1), visit.busy or base

    def max_position(self, crawl: Crawl) -> int:
        return crawl.settled + self.pages

    def barrier(self, crawl: Crawl) -> int | None:
        return None

    def is_late(self, crawl: Crawl, now: str) -> bool:
        return False


def begin(library: Store, *names: str) -> Crawl:
    first = [address(name, via="seed") for name in names]
    return library.crawls.start("a crawl", first[0].url, {"pages": 10}, first, {}, NOW)


def visited(position: int, *links: str, **values: Any) -> Visit:
    body = f"page {position}".encode()
    listed = "[" + ", ".join(f'"{link}"' for link in links) + "]"
    stored = Body(url_hash(body.decode()), len(body), pack(body))
    return Visit(
        position, HOST, "kept", status=200, made_by="test", body=stored, links=listed, page='{"title": "T"}', **values
    )


def crawl_step(library: Store, crawl_id: str) -> Any:
    """Try to work on a crawl of which only the id is known."""
    return library.frontier.advance(crawl_id, "thief", [], Plain(), want=9, now=NOW, until=moment(700))


def step(library: Store, crawl: Crawl, worker: str = "me", visits: Sequence[Visit] = (), **values: Any) -> Any:
    options: dict[str, Any] = {"want": 10, "now": NOW, "until": moment(700), **values}
    policy = options.pop("policy", None) or Plain()
    return library.frontier.advance(crawl.id, worker, visits, policy, **options)


def fill_crawl(library: Store) -> Crawl:
    """A crawl with one of everything."""
    crawl = begin(library, "secret")
    step(library, crawl, policy=Plain(1.0))
    step(library, crawl, visits=[visited(0, "other secret")], policy=Plain(1.0))
    return crawl
