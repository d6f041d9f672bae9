"""Fetching and extracting one page from Python: against a real server, and as docs/python.md shows it."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pagekeep
from pagekeep.config import Settings
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site

SETTINGS = Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, retries=0)
DOCUMENTATION = Path(__file__).parents[2] / "docs/python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    async def page(request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        body = article(300, title="The keeper").replace("<article", '<article id="story"')
        bodies = {
            "post": (body, "text/html; charset=utf-8"),
            "other": (body, "text/html"),
            "latin": ("<meta charset=latin1><p>Caf\xe9 am Hafen".encode("latin-1"), "text/html"),
            "bom": (b"\xef\xbb\xbf<p>Caf\xc3\xa9", "text/html; charset=latin1"),
        }
        content, kind = bodies.get(name, ("", "text/html"))
        await reply.send(content, status=200 if name in bodies else 404, content_type=kind)

    with Site({"page": page}) as running:
        yield running


@pytest.mark.parametrize(
    ("name", "source"), [("post", "http"), ("other", "detected"), ("latin", "meta"), ("bom", "bom")]
)
def test_a_fetched_page_has_its_text_and_says_how_it_was_decoded(site: Site, name: str, source: str) -> None:
    fetched = pagekeep.fetch_html(site.url(f"/page/{name}"), render="never", settings=SETTINGS)
    assert (fetched.status, fetched.rendered, fetched.encoding_source) == (200, False, source)
    assert fetched.final_url == site.url(f"/page/{name}")
    assert fetched.html is not None
    assert "\ufffd" not in fetched.html
    assert ("Café" in fetched.html) == (name in ("latin", "bom"))
    assert "total" in fetched.seconds


def test_fetching_and_extracting_is_what_both_do_one_after_the_other(site: Site) -> None:
    url = site.url("/page/post")
    options = pagekeep.Options(saved_at="2025-01-02T03:04:05Z")
    page = pagekeep.fetch_and_extract(url, options=options, settings=SETTINGS)
    fetched = pagekeep.fetch_html(url, render="never", settings=SETTINGS)
    apart = pagekeep.extract(fetched.body, fetched.final_url, options=options)
    assert page.document == apart.document
    assert page.quality.level == "article"
    in_loop = asyncio.run(pagekeep.fetch_and_extract_async(url, options=options, settings=SETTINGS))
    assert in_loop.document == page.document


def test_failures_are_errors_of_the_tree(site: Site) -> None:
    with pytest.raises(pagekeep.FetchHttpError) as caught:
        pagekeep.fetch_and_extract(site.url("/page/none"), settings=SETTINGS)
    assert caught.value.status == 404
    with pytest.raises(pagekeep.BlockedAddress):
        pagekeep.fetch_html(site.url("/page/post"), settings=Settings())


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_documentation_run(site: Site, example: str, tmp_path: Path) -> None:
    script = example.replace("https://example.com/", site.url("/page/"))
    environment = {
        "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1",
        "PAGEKEEP_PER_HOST_DELAY": "0",
        "PYTHONPATH": ":".join(sys.path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
