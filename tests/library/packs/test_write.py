"""Packs of a crawled manual: what its pages share is left out, and they are in the order of its navigation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import start_crawl
from pagekeep.library.crawl.worker import CrawlWorker
from pagekeep.library.packs.write import write_pack
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store, open_store
from tests.site.server import Reply, Request, Site

NAMES = ("anchor", "bowline", "cleat", "dinghy", "eyelet", "fender", "galley", "halyard", "island", "jetty")
PITCH = "Tell a friend about this manual and leave your window open on Fridays, they say."
SETTINGS = Settings(allow_hosts=("127.0.0.1",), crawl_delay=0.0, per_host_delay=0.0, timeout=10, render="never")


def _page(name: str) -> str:
    order = reversed(NAMES)
    links = "".join(f'<li><a href="/manual/{other}.html">The {other}</a></li>' for other in order)
    title = f"The {name}" if name else "The manual"
    text = "".join(
        f"<p>{' '.join(f'{word}{name}{part}' for word in 'every sailor should know why this matters and when it does not'.split())}.</p>"
        for part in "abcd"
    )
    beside = (
        '<p>See <a href="/manual/bowline.html#top">the bowline</a> for what comes next, if you have one.</p>'
        if name == "anchor"
        else ""
    )
    return (
        f"<title>{title}</title><nav><h3>Parts</h3><ul>{links}</ul></nav>"
        f"<main><h1>{title}</h1>{text}{beside}<p>{PITCH}</p></main>"
    )


async def _manual(request: Request, reply: Reply) -> None:
    name = request.path.removeprefix("/manual/").removesuffix(".html")
    if name == "llms.txt":
        host = request.headers["host"]
        lines = "".join(f"- [The {one}](http://{host}/manual/{one}.html): all of it\n" for one in NAMES)
        await reply.send(f"# Manual\n\n## Alphabet\n\n{lines}", content_type="text/plain; charset=utf-8")
    elif name and name not in NAMES:
        await reply.send("<h1>Not here</h1>", status=404)
    else:
        await reply.send(_page(name))


async def _crawl(store: Store, url: str) -> Crawl:
    async with Retrieval(SETTINGS) as retrieval:
        crawl = start_crawl(store, CrawlOptions((url,), sitemap="skip"))
        return await CrawlWorker(crawl.id, store, retrieval).run()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"manual": _manual}) as site:
        yield site


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with closing(open_store(tmp_path_factory.mktemp("packs") / "library.db", "keeper")) as store:
        yield store


@pytest.fixture(scope="module")
def crawl(site: Site, store: Store) -> Crawl:
    return asyncio.run(_crawl(store, site.url("/manual/")))


def write(store: Store, crawl: Crawl, kind: str, path: Path) -> int:
    async def run() -> int:
        async with Retrieval(SETTINGS) as retrieval:
            return await write_pack(store, crawl, kind, path, retrieval)

    return asyncio.run(run())


def test_a_folder_has_every_page_without_what_all_pages_show(store: Store, crawl: Crawl, tmp_path: Path) -> None:
    assert write(store, crawl, "folder", tmp_path / "pack") == len(NAMES) + 1
    texts = {path.name: path.read_text() for path in (tmp_path / "pack").glob("*.md")}
    assert set(texts) == {"index.md", *(f"{name}.md" for name in NAMES)}
    assert not any(PITCH in text for text in texts.values())
    assert "](bowline.md#top)" in texts["anchor.md"]
    assert "whyanchora" in texts["anchor.md"]


def test_the_order_is_that_of_the_navigation(store: Store, crawl: Crawl, tmp_path: Path) -> None:
    write(store, crawl, "llms", tmp_path)
    text = (tmp_path / "llms.txt").read_text()
    assert "## Parts" in text
    assert text.index("[The jetty]") < text.index("[The bowline]") < text.index("[The anchor]")
    assert "whyjettya" in (tmp_path / "llms-full.txt").read_text()


def test_a_book_has_chapters_in_parts_and_links_between_them(store: Store, crawl: Crawl, tmp_path: Path) -> None:
    for name in ("a.epub", "b.epub"):
        write(store, crawl, "epub", tmp_path / name)
    assert (tmp_path / "a.epub").read_bytes() == (tmp_path / "b.epub").read_bytes()
    with ZipFile(tmp_path / "a.epub") as book:
        contents = book.read("EPUB/nav.xhtml").decode()
        chapters = {name: book.read(name).decode() for name in book.namelist() if "chapter-" in name}
    assert "<span>Parts</span><ol>" in contents.replace("\n", "")
    assert contents.count("<ol>") == contents.count("</ol>") == 2
    anchor = next(text for text in chapters.values() if "whyanchora" in text)
    bowline = next(name for name, text in chapters.items() if "whybowlinea" in text)
    assert f'href="{bowline.removeprefix("EPUB/")}"' in anchor


def test_a_site_s_own_list_gives_pages_and_order(site: Site, store: Store, tmp_path: Path) -> None:
    crawl = asyncio.run(_crawl(store, site.url("/manual/llms.txt")))
    write(store, crawl, "llms", tmp_path)
    text = (tmp_path / "llms.txt").read_text()
    assert "## Alphabet" in text
    assert text.index("[The anchor]") < text.index("[The bowline]") < text.index("[The jetty]")
