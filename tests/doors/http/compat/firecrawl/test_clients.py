"""firecrawl-py and LangChain's loader, unmodified, as their users call them; LlamaIndex' reader where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.config import Settings
from tests.browser.extended import until
from tests.browser.serving import Server as Running
from tests.site.fixtures import SENTENCE
from tests.site.server import Reply, Request, Site

LLAMA_VARIABLE = "PAGEKEEP_TEST_LLAMA_PYTHON"
"""Names a Python with llama-index-readers-web and firecrawl-py: half a gigabyte, so that it is not installed for tests."""
NAMES = ("knots", "ropes", "sails")


async def _manual(request: Request, reply: Reply) -> None:
    """Answer with a page of a small manual, its sitemap, or 404."""
    name = request.path.removeprefix("/manual/")
    if name == "sitemap.xml" or (name and name not in NAMES):
        await reply.send("<h1>Not found</h1>", status=404)
        return
    links = "".join(f'<li><a href="/manual/{other}">{other}</a></li>' for other in (*NAMES, "gone"))
    title = name.title() or "Manual"
    text = f"<p>About {title}. {SENTENCE * 2}</p>" * 4
    await reply.send(f"<title>{title}</title><nav><ul>{links}</ul></nav><main><h1>{title}</h1>{text}</main>")


async def _take(request: Request, reply: Reply) -> None:
    """Take the event of a webhook."""
    await reply.send("ok")


@pytest.fixture(scope="module")
def manual() -> Iterator[Site]:
    with Site({"manual": _manual, "hook": _take}) as site:
        yield site


@pytest.fixture
def running(settings: Settings, shared_workers: None) -> Iterator[Running]:
    with Running(replace(settings, crawl_delay=0.0)) as running:
        yield running


def run(python: Path, script: str, *arguments: str) -> Any:
    """Run a script with the client; return the JSON that it prints last."""
    done = subprocess.run(
        [python, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_PROXY": "*"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


SYNC = """
import json, sys
from firecrawl import Firecrawl
api, site = sys.argv[1:]
app = Firecrawl(api_key="fc-made-up", api_url=api)
page = app.scrape(site + "knots", formats=["markdown", "links", "images", {"type": "attributes", "selectors": [{"selector": "a", "attribute": "href"}]}])
found = app.map(site)
crawl = app.crawl(site, limit=10, poll_interval=1, scrape_options={"formats": ["markdown", "html"]})
batch = app.batch_scrape([site + "knots", site + "ropes", "http://[bad"], formats=["markdown"], ignore_invalid_urls=True, poll_interval=1)
started = app.start_crawl(site, limit=10)
errors = app.get_crawl_errors(started.id)
active = app.get_active_crawls()
search = app.search("knots", limit=3)
try:
    app.scrape(site + "gone")
    failed = ""
except Exception as error:
    failed = type(error).__name__ + " " + str(error)
print(json.dumps({
    "title": page.metadata.title, "markdown": page.markdown, "links": page.links,
    "map": sorted(link.url for link in found.links),
    "crawl": [crawl.status, crawl.completed, sorted(one.metadata.title for one in crawl.data)], "html": crawl.data[0].html[:3],
    "batch": [batch.status, sorted(one.metadata.title for one in batch.data)],
    "errors": [one.url for one in errors.errors], "search": search.web or [], "failed": failed,
    "credits": app.get_credit_usage().remaining_credits, "concurrency": app.get_concurrency().max_concurrency,
}, default=str))
"""

ASYNC = """
import asyncio, json, sys
from firecrawl import AsyncFirecrawl
api, site = sys.argv[1:]

async def main():
    app = AsyncFirecrawl(api_key="fc-made-up", api_url=api)
    page, found, crawl, batch, search = await asyncio.gather(
        app.scrape(site + "knots", formats=["markdown"]), app.map(site), app.crawl(url=site, limit=10, poll_interval=1),
        app.batch_scrape([site + "ropes"], formats=["markdown"], poll_interval=1), app.search("knots"),
    )
    print(json.dumps([page.metadata.title, len(found.links), crawl.completed, len(batch.data), len(search.web or [])]))

asyncio.run(main())
"""

WEBHOOKS = """
import json, sys
from firecrawl import Firecrawl
from firecrawl.v2.types import WebhookConfig
api, site, hook = sys.argv[1:]
app = Firecrawl(api_key="fc-made-up", api_url=api)
config = WebhookConfig(url=hook, headers={"X-Mine": "yes"}, metadata={"project": "knots"}, events=["page", "completed"])
crawl = app.start_crawl(site + "knots", limit=1, webhook=config)
batch = app.start_batch_scrape([site + "ropes"], formats=["markdown"], webhook=hook)
print(json.dumps([crawl.id, batch.id]))
"""

LANGCHAIN = """
import json, sys
from langchain_firecrawl import FirecrawlLoader
api, site = sys.argv[1:]
print(json.dumps([
    sorted(one.metadata.get("title", "") for one in FirecrawlLoader(site, api_key="fc-x", api_url=api, mode=mode).load())
    for mode in ("scrape", "crawl")
]))
"""

LLAMA = """
import json, sys
from llama_index.readers.web import FireCrawlWebReader
api, site = sys.argv[1:]
print(json.dumps([
    len(FireCrawlWebReader(api_key="fc-x", api_url=api, mode=mode).load_data(url=site)) for mode in ("scrape", "crawl", "map")
]))
"""


def test_firecrawl_py_names_webhooks_which_get_the_events(tools: Path, running: Running, manual: Site) -> None:
    crawl, batch = run(tools / "python", WEBHOOKS, running.url, manual.url("/manual/"), manual.url("/hook"))

    def events() -> list[dict[str, Any]]:
        return [json.loads(request.body) for request in manual.requests if request.path == "/hook"]

    until(lambda: len(events()) == 5, 60)
    found = sorted((event["id"], event["type"]) for event in events())
    expected = [(crawl, "crawl.page"), (crawl, "crawl.completed")]
    expected += [(batch, f"batch_scrape.{name}") for name in ("started", "page", "completed")]
    assert found == sorted(expected)


def test_firecrawl_py_scrapes_maps_crawls_batches_and_searches(tools: Path, running: Running, manual: Site) -> None:
    site = manual.url("/manual/")
    seen = run(tools / "python", SYNC, running.url, site)
    assert seen["title"] == "Knots"
    assert SENTENCE.strip() in seen["markdown"]
    assert {site, *(site + name for name in NAMES)} <= set(seen["map"])
    assert seen["crawl"] == ["completed", 4, ["Knots", "Manual", "Ropes", "Sails"]]
    assert seen["html"].startswith("<")
    assert seen["batch"] == ["completed", ["Knots", "Ropes"]]
    assert seen["search"] == []
    assert "404" in seen["failed"]
    assert seen["credits"] > 0 < seen["concurrency"]


def test_firecrawl_py_works_asynchronously(tools: Path, running: Running, manual: Site) -> None:
    assert run(tools / "python", ASYNC, running.url, manual.url("/manual/")) == ["Knots", 5, 4, 1, 0]


def test_langchain_loads_a_page_and_a_site(tools: Path, running: Running, manual: Site) -> None:
    loaded = run(tools / "python", LANGCHAIN, running.url, manual.url("/manual/"))
    assert loaded == [["Manual"], ["Knots", "Manual", "Ropes", "Sails"]]


def test_llama_index_reads_a_page_and_a_site(running: Running, manual: Site) -> None:
    python = os.environ.get(LLAMA_VARIABLE)
    if not python:
        pytest.skip(f"Set {LLAMA_VARIABLE} to a Python with llama-index-readers-web and firecrawl-py.")
    assert run(Path(python), LLAMA, running.url, manual.url("/manual/")) == [1, 4, 5]
