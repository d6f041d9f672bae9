"""Webhooks of crawls and batches, as Firecrawl documents them: a real server, a real receiver."""

from __future__ import annotations

import hashlib
import hmac
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.store import open_store
from tests.browser.extended import until
from tests.browser.serving import Server as Running
from tests.site.fixtures import SENTENCE
from tests.site.server import Reply, Request, Site

KEY = "whsec_" + "c2VjcmV0LXNlY3JldC1zZWNyZXQ="
NAMES = ("knots", "ropes")


async def _manual(request: Request, reply: Reply) -> None:
    name = request.path.removeprefix("/manual/")
    if name and name not in NAMES:
        await reply.send("<h1>Not found</h1>", status=404)
        return
    links = "".join(f'<li><a href="/manual/{other}">{other}</a></li>' for other in NAMES)
    text = f"<p>About {name or 'manuals'}. {SENTENCE * 2}</p>" * 4
    await reply.send(f"<title>{name.title() or 'Manual'}</title><nav><ul>{links}</ul></nav><main>{text}</main>")


class Receiver:
    """Takes events; the first requests can fail."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.failures = 0

    async def take(self, request: Request, reply: Reply) -> None:
        if self.failures:
            self.failures -= 1
            await reply.send("later", status=503)
            return
        self.requests.append(request)
        await reply.send("ok")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in self.requests]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def site(receiver: Receiver) -> Iterator[Site]:
    with Site({"manual": _manual, "hook": receiver.take}) as running:
        yield running


Post = Callable[..., Any]


@pytest.fixture
def post(settings: Settings, shared_workers: None) -> Iterator[Post]:
    with Running(replace(settings, crawl_delay=0.0, webhook_secret=KEY)) as running:

        def call(path: str, body: dict[str, Any] | None, method: str = "POST") -> Any:
            data = None if body is None else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"}
            with urllib.request.urlopen(
                urllib.request.Request(running.url + path, data, headers, method=method)
            ) as answer:
                return json.load(answer)

        yield call


def test_a_crawl_reports_its_start_its_pages_and_its_end(
    post: Post, site: Site, receiver: Receiver, settings: Settings
) -> None:
    receiver.failures = 1
    hook = {"url": site.url("/hook"), "headers": {"X-Mine": "yes"}, "metadata": {"project": 7}}
    job = post("/v2/crawl", {"url": site.url("/manual/"), "limit": 10, "webhook": hook})["id"]
    until(lambda: len(receiver.requests) == 5, 60)
    events = receiver.events
    assert [event["type"] for event in events] == ["crawl.started", *["crawl.page"] * 3, "crawl.completed"]
    assert all(event["success"] and event["id"] == job and event["metadata"] == {"project": 7} for event in events)
    assert len({event["webhookId"] for event in events}) == 5
    assert events[0]["data"] == events[-1]["data"] == []
    pages = [event["data"][0] for event in events[1:-1]]
    assert [page["metadata"]["sourceURL"] for page in pages] == [
        site.url(f"/manual/{name}") for name in ("", *NAMES)
    ]  # fmt: skip
    assert all("About" in page["markdown"] and page["metadata"]["statusCode"] == 200 for page in pages)
    for request in receiver.requests:
        assert request.headers["x-mine"] == "yes"
        assert request.headers["content-type"].startswith("application/json")
        signature = hmac.new(KEY.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.headers["x-firecrawl-signature"] == f"sha256={signature}"
    with closing(open_store(settings.library)) as store:
        until(lambda: not store.sinks.list(), 20)


def test_a_batch_reports_only_the_events_that_were_asked_for(post: Post, site: Site, receiver: Receiver) -> None:
    hook = {"url": site.url("/hook"), "events": ["page", "completed"]}
    urls = [site.url("/manual/knots"), site.url("/manual/ropes")]
    post("/v2/batch/scrape", {"urls": urls, "formats": ["links"], "webhook": hook})
    until(lambda: len(receiver.requests) == 3, 60)
    assert [event["type"] for event in receiver.events] == [
        "batch_scrape.page", "batch_scrape.page", "batch_scrape.completed",
    ]  # fmt: skip
    assert set(receiver.events[0]["data"][0]) == {"links", "metadata"}


def test_a_crawl_without_pages_reports_a_failure(
    post: Post, site: Site, receiver: Receiver, settings: Settings
) -> None:
    post("/v2/crawl", {"url": site.url("/manual/gone"), "webhook": site.url("/hook")})
    until(lambda: len(receiver.requests) == 2, 60)
    assert receiver.events[1] | {"webhookId": "", "id": ""} == {
        "success": False, "type": "crawl.failed", "id": "", "webhookId": "", "data": [], "metadata": {},
        "error": "No page could be read.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("webhook", "words"),
    [
        ("http://10.0.0.1/hook", "private"),
        ("ftp://example.com/", ""),
        ({"url": "https://example.com/", "headers": {"Host": "internal"}}, "header Host"),
        ({"url": "https://example.com/", "headers": {"X-A": "a\r\nX-B: b"}}, "header X-A"),
        ({"url": "https://example.com/", "metadata": {"a": "x" * 5_000}}, "metadata"),
        ({"url": "https://example.com/", "events": ["nonsense"]}, ""),
    ],
)
def test_a_webhook_that_is_not_accepted_starts_no_crawl(
    post: Post, site: Site, settings: Settings, webhook: Any, words: str
) -> None:
    with pytest.raises(urllib.error.HTTPError) as raised:
        post("/v2/crawl", {"url": site.url("/manual/"), "webhook": webhook})
    assert raised.value.code in (400, 403)
    assert words in json.load(raised.value)["error"]
    with closing(open_store(settings.library)) as store:
        assert not store.crawls.list()
        assert not store.sinks.list()
