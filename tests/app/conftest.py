"""A small site with a static page, an app that needs its script, and pages that are not what they should be."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # for `tests.site`, whichever way pytest was started

from pagekeep.app.capture import Captured, Retrieval, capture
from pagekeep.app.capture import Request as Wanted
from pagekeep.config import Settings
from pagekeep.errors import RenderError
from pagekeep.fetch import chromium
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
    told = "".join(f"<p>{name} is {value}, {SENTENCE}</p>" for name, value in sorted(request.headers.items()))
    await reply.send(f"<title>Headers</title><article>{told}</article>")


@pytest.fixture(scope="session")
def harbour() -> Iterator[Site]:
    with Site({"article": _article, "app": _app, "wall": _wall, "plain": _plain, "echo": _echo}) as site:
        yield site


@pytest.fixture
def a_browser() -> None:
    """Skips, with the reason, where there is no Chromium."""
    try:
        chromium.find()
    except RenderError as error:
        pytest.skip(f"{error.message} scripts/install-chromium gets one.")


@pytest.fixture
def settings() -> Settings:
    return Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, timeout=10)


@pytest.fixture
def get(settings: Settings) -> Callable[..., Captured]:
    """Captures one page with the real client and, if asked, the real browser."""

    async def one(wanted: Wanted, chosen: Settings) -> Captured:
        async with Retrieval(chosen) as retrieval:
            return await capture(wanted, retrieval)

    def run(url: str, *, using: Settings = settings, **how: object) -> Captured:
        return asyncio.run(asyncio.wait_for(one(Wanted(url, **how), using), 60))  # type: ignore[arg-type]

    return run
