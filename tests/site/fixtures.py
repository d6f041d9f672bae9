"""A small site with a static page, an app that needs its script, and pages that are not what they should be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from pagekeep.capture.documents.file_types import declared_type
from pagekeep.capture.from_url import Captured, Retrieval, capture, ignore_progress
from pagekeep.capture.from_url import Request as Wanted
from pagekeep.config import Settings
from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import retry, save
from pagekeep.model import SaveResult
from pagekeep.rules import Rulebook
from pagekeep.rules.rule import HostTrigger, Rule, Trigger
from pagekeep.store import Store, open_store
from tests.site.sandbox import SANDBOX
from tests.site.server import Reply, Request, Site

SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
ARTICLE = f"<title>The keeper</title><article><h1>The keeper</h1>{f'<p>{SENTENCE * 3}</p>' * 5}</article>"
APP = f"""<title>The keeper</title><div id="root"></div><script>
setTimeout(() => {{ document.getElementById("root").innerHTML = `<article><h1>The keeper</h1>{f"<p>{SENTENCE * 3}</p>" * 5}
</article>`; }}, 50);
</script>"""
WALL = """<title>Just a moment...</title><h1>Checking your browser</h1><p>Verify you are human to continue.</p>
<form id="challenge-form" action="/cdn-cgi/challenge-platform/h"></form><script src="/cdn-cgi/challenge-platform/x.js"></script>"""


async def _article(_request: Request, reply: Reply) -> None:
    await reply.send(ARTICLE)


async def _app(_request: Request, reply: Reply) -> None:
    await reply.send(APP)


async def _wall(_request: Request, reply: Reply) -> None:
    await reply.send(WALL, status=403)


async def _plain(_request: Request, reply: Reply) -> None:
    await reply.send("# Log\n\n*wind*   north\n", content_type="text/plain; charset=utf-8")


async def _echo(request: Request, reply: Reply) -> None:
    reported = "".join(f"<p>{name} is {value}, {SENTENCE}</p>" for name, value in sorted(request.headers.items()))
    await reply.send(f"<title>Headers</title><article>{reported}</article>")


@pytest.fixture(scope="session")
def harbour() -> Iterator[Site]:
    with Site({"article": _article, "app": _app, "wall": _wall, "plain": _plain, "echo": _echo}) as site:
        yield site


@pytest.fixture
def a_browser() -> None:
    """Skips, with the reason, where there is no Chromium."""
    try:
        chromium.find_chromium()
    except RenderError as error:
        pytest.skip(f"{error.message} scripts/install-chromium gets one.")


@pytest.fixture
def settings() -> Settings:
    return Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, timeout=10, browser_sandbox=SANDBOX)


@pytest.fixture
def get(settings: Settings) -> Callable[..., Captured]:
    """Captures one page with the real client and, if asked, the real browser."""

    async def one(wanted: Wanted, chosen: Settings, rules: Rulebook | None) -> Captured:
        async with Retrieval(chosen, rules) as retrieval:
            return await capture(wanted, retrieval)

    def run(url: str, *, using: Settings = settings, rules: Rulebook | None = None, **how: object) -> Captured:
        return asyncio.run(asyncio.wait_for(one(Wanted(url, **how), using, rules), 60))  # type: ignore[arg-type]

    return run


class Shore:
    """A site whose pages change between two visits: set `bodies[name]`, or `statuses[name]` for an error.

    With `etags[name]` it answers 304 to a client that has this version. Bytes are files, sent as what their name ends with.
    """

    def __init__(
        self, site: Site, bodies: dict[str, str | bytes], statuses: dict[str, int], etags: dict[str, str]
    ) -> None:
        self.site = site
        self.bodies = bodies
        self.statuses = statuses
        self.etags = etags

    def url(self, name: str) -> str:
        return self.site.url(f"/page/{name}")


def article(words: int, title: str = "The keeper", extra: str = "") -> str:
    """A page whose article has about this many words."""
    paragraph = f"<p>{SENTENCE * 3}</p>"
    return f"<title>{title}</title><article><h1>{title}</h1>{paragraph * max(1, words // 54)}{extra}</article>"


BARE = "<title>The keeper</title><p>Soon.</p>"
"""A page that holds too little for an article."""


@contextmanager
def open_shore() -> Iterator[Shore]:
    """A site whose pages change."""
    bodies: dict[str, str | bytes] = {}
    statuses: dict[str, int] = {}
    etags: dict[str, str] = {}

    async def page(request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        if name in etags and request.headers.get("if-none-match") == etags[name]:
            await reply.send(status=304, etag=etags[name])
            return
        headers = {"etag": etags[name]} if name in etags else {}
        body = bodies.get(name, "")
        if isinstance(body, bytes):
            headers["content_type"] = declared_type(name) or "application/octet-stream"
        await reply.send(body, status=statuses.get(name, 200 if name in bodies else 404), **headers)

    async def short(request: Request, reply: Reply) -> None:
        await reply.send("", status=302, location=f"/page/{request.path.rpartition('/')[2]}")

    with Site({"page": page, "short": short}) as site:
        yield Shore(site, bodies, statuses, etags)


@pytest.fixture
def shore() -> Iterator[Shore]:
    with open_shore() as site:
        yield site


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db", "keeper")) as store:
        yield store


@pytest.fixture
def keep(library: Store, settings: Settings) -> Callable[..., SaveResult]:
    """Saves one page into the library with the real client."""

    async def one(url: str, rules: Rulebook | None, how: dict[str, Any]) -> SaveResult:
        async with Retrieval(how.pop("settings", settings), rules) as retrieval:
            progress = how.pop("progress", ignore_progress)
            return await save(SaveRequest(Wanted(url, render="never"), **how), library, retrieval, progress=progress)

    return lambda url, rules=None, **how: asyncio.run(one(url, rules, how))


@pytest.fixture
def again(library: Store, settings: Settings) -> Callable[..., SaveResult]:
    """Retries one item with the real client."""

    async def one(key: str) -> SaveResult:
        async with Retrieval(settings) as retrieval:
            return await retry(key, library, retrieval, request=Wanted("", render="never"))

    return lambda key: asyncio.run(one(key))


HERE = Trigger(HostTrigger(equals=("127.0.0.1",)))
"""Sets a rule off for every page of the tests' own sites."""


def book(**said: Any) -> Rulebook:
    """One rule for the tests' own sites."""
    return Rulebook((Rule(**{"id": "own", "phase": "pre", "trigger": HERE, **said}),))
