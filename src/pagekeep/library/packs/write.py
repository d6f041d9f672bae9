"""Make a pack of a crawl, its pages without what they share, and write it as a folder, as `llms.txt` or as a book."""

from __future__ import annotations

import uuid
from asyncio import to_thread
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit
from zipfile import ZipFile

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import Conflict, PagekeepError
from pagekeep.extraction.site.navigation import NavigationEntry, merge_navigations
from pagekeep.library.crawl.crawls import read_raw
from pagekeep.library.crawl.known_site import LLMS, read_known_pages
from pagekeep.library.crawl.outputs import write_file
from pagekeep.library.crawl.sitemaps import read_llms
from pagekeep.library.exports.epub import Book, add_chapter
from pagekeep.library.items.build_item import to_fetched
from pagekeep.library.packs.folder import write_folder
from pagekeep.library.packs.pack import PackPage, SitePage, arrange, key, write_llms, write_llms_full
from pagekeep.model import Fetched, Item, ItemMetadata, Options
from pagekeep.model.crawl import Crawl, CrawledPage
from pagekeep.store import Store

KINDS: Final = ("folder", "llms", "epub")
"""A folder of Markdown; a folder with `llms.txt` and `llms-full.txt`; an EPUB file."""


async def write_pack(store: Store, crawl: Crawl, kind: str, path: Path, retrieval: Retrieval) -> int:
    """Write the pages of a crawl as a pack; return how many."""
    pack = await make_pack(store, crawl, retrieval)
    if kind == "folder":
        return await to_thread(write_folder, pack.title, pack.url, pack.summary, pack.pages, path)
    if kind == "llms":
        await to_thread(_write_llms, pack, path)
    else:
        await to_thread(write_file, path, lambda file: write_pack_book(pack, crawl.started_at, file))
    return len(pack.pages)


def _write_llms(pack: Pack, folder: Path) -> None:
    parts = {
        "llms.txt": write_llms(pack.title, pack.summary, pack.pages),
        "llms-full.txt": write_llms_full(pack.title, pack.summary, pack.pages),
    }
    for name, lines in parts.items():
        write_file(folder / name, partial(_write_lines, lines))


def _write_lines(lines: Iterable[str], file: BinaryIO) -> None:
    file.writelines(line.encode("utf-8", "replace") for line in lines)


MAX_PAGES: Final = 50_000
"""Pages of a pack, which is made in memory."""
_NAVIGATION_PAGES: Final = 40
"""Pages whose navigation is read: the first ones, and others spread over the crawl."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The pages of a site, with its title."""

    title: str
    url: str
    summary: str
    pages: list[PackPage]


async def make_pack(store: Store, crawl: Crawl, retrieval: Retrieval) -> Pack:
    """Return the pack of a crawl; `Conflict` when it has no pages, or too many."""
    if not 0 < crawl.kept <= MAX_PAGES:
        raise Conflict(
            f"The crawl of {crawl.url} has {crawl.kept:,} pages; a pack has 1 to {MAX_PAGES:,}.",
            suggestions=("Write JSONL instead, or crawl fewer pages.",),
        )
    found = [page async for page in read_known_pages(store, crawl, retrieval)]
    listed = [page for page in found if page.requested.endswith(LLMS)]
    pages = [page for page in found if not page.requested.endswith(LLMS)] or found
    navigation = await _read_navigation(store, crawl, retrieval, listed, pages)
    arranged = arrange([_site_page(page) for page in pages], navigation)
    first = pages[0]
    about: Mapping[str, Any] = first.content.get("metadata") or {}
    title = str(about.get("site_name") or first.content.get("title") or urlsplit(crawl.url).netloc)
    return Pack(title, crawl.url, str(about.get("description") or ""), arranged)


def _site_page(page: CrawledPage) -> SitePage:
    content, about = page.content, page.content.get("metadata") or {}
    return SitePage(
        url=page.url,
        title=str(content.get("title") or ""),
        markdown=str(content.get("markdown") or ""),
        description=str(about.get("description") or ""),
        metadata=about,
        aliases=() if page.requested == page.url else (page.requested,),
        breadcrumbs=tuple(map(str, content.get("breadcrumbs") or ())),
    )


async def _read_navigation(
    store: Store, crawl: Crawl, retrieval: Retrieval, listed: Sequence[CrawledPage], pages: Sequence[CrawledPage]
) -> list[NavigationEntry]:
    """Return the order of the site: its own `llms.txt` first, if it was crawled, then the navigation of some pages."""
    navigations: list[Iterable[NavigationEntry]] = []
    for page in listed:
        raw = await to_thread(read_raw, store, crawl.id, page)
        navigations.append(read_llms(raw.body.decode("utf-8", "replace")) if raw else ())
    step = max(1, len(pages) // (_NAVIGATION_PAGES // 2))
    chosen = [*pages[: _NAVIGATION_PAGES // 2], *pages[_NAVIGATION_PAGES // 2 :: step]][:_NAVIGATION_PAGES]
    scope = _shared_scope([page.url for page in pages])
    for page in chosen:
        raw = await to_thread(read_raw, store, crawl.id, page)
        if raw is not None:
            navigations.append(await _try(retrieval, NavigationTask(to_fetched(raw), page.url, scope)) or ())
    return merge_navigations(navigations)


def _shared_scope(urls: Sequence[str]) -> str:
    """Return the beginning that all addresses have in common, up to a slash."""
    first, last = min(urls), max(urls)
    length = next(
        (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last))
    )
    return first[: first.rfind("/", 0, length + 1) + 1]


async def _try(retrieval: Retrieval, task: NavigationTask) -> tuple[NavigationEntry, ...] | None:
    try:
        return await retrieval.run(task)
    except PagekeepError:  # a page that takes too long: others have the same navigation
        return None


@dataclass(frozen=True, slots=True)
class NavigationTask:
    """Read the navigation of a page, in a worker."""

    fetched: Fetched
    url: str
    scope: str

    def run(self) -> tuple[NavigationEntry, ...]:
        """Return its entries."""
        from pagekeep import dom
        from pagekeep.extraction.input.decode import decode
        from pagekeep.extraction.site.navigation import read_navigation

        body = self.fetched.body
        html, _ = decode(body, Options(encoding=self.fetched.encoding, max_bytes=len(body)))
        return read_navigation(dom.parse(html), self.url, self.scope)


def write_pack_book(pack: Pack, made_at: str, out: BinaryIO) -> int:
    """Write the book; return how many chapters it has. Pictures stay links."""
    targets = {
        key(url): f"chapter-{number:05}.xhtml"
        for number, one in reversed(list(enumerate(pack.pages, start=1)))
        for url in (one.url, *one.page.aliases)
    }

    def find_chapter(url: str) -> str | None:
        return targets.get(key(url)) if "://" in url else None

    with ZipFile(out, "w") as zipped:
        book = Book(zipped, title=pack.title)
        book.begin()
        for one in pack.pages:
            chapter = _chapter(one, made_at)
            add_chapter(book, chapter, (), {}, headings=one.section, level=one.level, find_chapter=find_chapter)
        book.finish()
    return len(pack.pages)


def _chapter(one: PackPage, made_at: str) -> Item:
    """Return a page as an item, which books are made of."""
    language = one.page.metadata.get("language")
    return Item(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, one.url)),
        user_id="",
        url=one.url,
        url_full=one.url,
        domain=one.url.partition("://")[2].partition("/")[0],
        title=one.title,
        content=one.page.markdown,
        source="web",
        author=one.page.metadata.get("author"),
        saved_at=made_at,
        published_at=None,
        metadata=ItemMetadata(language=language if isinstance(language, str) else None),
        created_at=made_at,
        updated_at=made_at,
    )
