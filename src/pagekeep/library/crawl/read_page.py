"""Read one response of a crawl in a worker: extract the page, and find the links that the crawl may follow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pagekeep import dom
from pagekeep.capture.extract import ReadTask
from pagekeep.errors import PagekeepError
from pagekeep.extraction.input import urls
from pagekeep.library import normal_url
from pagekeep.library.crawl import addresses, sitemaps
from pagekeep.library.crawl.addresses import Counts, Scope
from pagekeep.model import Fetched, NeedRender, Page, plain
from pagekeep.model.crawl import Body
from pagekeep.store.blob_files import pack
from pagekeep.values import dataclass

HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
MIN_SAME_WORDS: Final = 50
"""Pages with the same title and text of this many words are the same page; shorter ones only if their links are the same."""
_MAX_CONTENT_LINKS: Final = 1_000
"""Links of the content that are stored with a page."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A response, read."""

    outcome: str
    facts: Mapping[str, Any]
    links: str
    """JSON: addresses to follow."""
    page: str
    """JSON: the page."""
    body: Body | None
    words: int
    need_render: NeedRender | None


@dataclass(frozen=True, slots=True)
class CrawlTask:
    """Read a response, and find the links that the crawl may follow."""

    read: ReadTask
    scope: Scope
    robots: Mapping[str, str]
    """The robots.txt of every host of the crawl that has one."""
    agent: str

    @property
    def fetched(self) -> Fetched:
        """The response."""
        return self.read.fetched

    def run(self) -> ReadPage:
        """Return the page, and what the crawl needs of it."""
        found, url = PageLinks(), self.fetched.final_url

        def look(document: dom.Document) -> None:
            nonlocal found
            found = read_links(document, url)

        if self.fetched.content_type in HTML:
            page = self.read.read(look)
        else:
            page, found = self.read.read(), self._read_list()
        counts = Counts()
        links = self._filter(found, counts)
        facts: dict[str, Any] = {"left_out": counts, "title": page.metadata.title}
        address = self._address(page)
        if address is not None:
            facts["page"] = address
        facts["content"] = _content_hash(page, links)
        if page.caught is not None:
            facts |= {"reason": page.caught.reason, "caught": page.caught.kind}
        data = self.fetched.body
        return ReadPage(
            outcome="kept" if page.caught is None else "caught",
            facts=facts,
            links=json.dumps(links, ensure_ascii=False),
            page=json.dumps(page_fields(page, found.breadcrumbs), ensure_ascii=False),
            body=Body(hashlib.sha256(data).hexdigest(), len(data), pack(data)),
            words=page.word_count,
            need_render=page.need_render,
        )

    def _read_list(self) -> PageLinks:
        """Return the links that a site's own `llms.txt` lists."""
        if not urlsplit(self.fetched.final_url).path.endswith("/llms.txt"):
            return PageLinks()
        listed = sitemaps.read_llms(self.fetched.body.decode("utf-8", "replace"))
        return PageLinks(tuple(entry.url for entry in listed if entry.url))

    def _filter(self, found: PageLinks, counts: Counts) -> list[str]:
        """Return the addresses to follow, in document order, and count the others by reason."""
        if found.nofollow or "nofollow" in self.fetched.headers.get("x-robots-tag", "").lower():
            counts.add("nofollow", len(found.links))
            return []
        kept: dict[str, None] = {}
        for link in found.links:
            try:
                address = addresses.tidy(link)
            except PagekeepError:
                counts.add("not_an_address")
                continue
            if address.url in kept:
                continue
            reason = self._reject(address.url)
            if reason is not None:
                counts.add(reason)
                continue
            if address.stripped is not None:
                counts.add(address.stripped)
            kept[address.url] = None
        return list(kept)

    def _reject(self, url: str) -> str | None:
        reason = self.scope.reject(url) or ("file" if addresses.is_file(url) else addresses.find_trap(url))
        if reason is None and not sitemaps.allows(self.robots, addresses.authority(url), url, self.agent):
            reason = "robots"
        return reason

    def _address(self, page: Page) -> str | None:
        """Return the canonical address of the page, if that can be trusted, is another one, and is in the crawl."""
        url = self.fetched.final_url
        address = addresses.tidy(normal_url.identity(url, url, page.metadata.canonical)).url
        return address if address != addresses.tidy(url).url and self._reject(address) is None else None


@dataclass(frozen=True, slots=True)
class AllowedTask:
    """Check an address that no page of the crawl links to, such as a seed, in a worker."""

    url: str
    robots: Mapping[str, str]
    agent: str

    def run(self) -> bool:
        """Return whether the robots.txt of its host allows it."""
        return sitemaps.allows(self.robots, addresses.authority(self.url), self.url, self.agent)


def _content_hash(page: Page, links: list[str]) -> str:
    """Return the hash by which a page is recognised at another address."""
    parts = [page.metadata.title or "", page.markdown]
    if page.word_count < MIN_SAME_WORDS:
        parts += sorted(links)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()


def page_fields(page: Page, breadcrumbs: tuple[str, ...]) -> dict[str, Any]:
    """Return a page as a crawl stores it: nothing in it depends on when it was fetched."""
    return {
        "title": page.metadata.title,
        "kind": page.kind,
        "strategy": page.strategy,
        "quality": page.quality.level,
        "score": page.quality.score,
        "word_count": page.word_count,
        "breadcrumbs": list(breadcrumbs),
        "metadata": {name: value for name, value in plain(page.metadata).items() if name != "origins"},
        "markdown": page.markdown,
        "links": [link.url for link in page.links[:_MAX_CONTENT_LINKS]],
    }


MAX_LINKS: Final = 5_000
"""Links of one page that are looked at."""
MAX_BREADCRUMBS: Final = 12
_MAX_CRUMB_CHARS: Final = 200
_FOLLOWED: Final = frozenset({"next", "prev", "alternate"})
"""Kinds of `<link>` that lead to pages; `alternate` only with a language."""
_BREADCRUMBS: Final = (
    '[aria-label*="breadcrumb" i], [class*="breadcrumb" i], [id*="breadcrumb" i], [typeof~="BreadcrumbList"], '
    '[itemtype$="/BreadcrumbList"]'
)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a page says about other pages."""

    links: tuple[str, ...] = ()
    """Absolute, each once, in document order."""
    nofollow: bool = False
    """Whether the page asks programs not to follow its links."""
    breadcrumbs: tuple[str, ...] = ()


def read_links(document: dom.Document, url: str) -> PageLinks:
    """Return the links of a page."""
    base = urls.base(document, url) or url
    found: dict[str, None] = {}
    nofollow = False
    for element in dom.tagged(document, ("a", "area", "link", "meta"), MAX_LINKS):
        if element.tag == "meta":
            nofollow = nofollow or _forbids(element)
        elif element.tag != "link" or _leads_to_page(element):
            href = element.attr("href")
            address = urls.absolute(href, base) if href and not href.startswith("#") else None
            if address is not None:
                found.setdefault(address.partition("#")[0])
    return PageLinks(tuple(found), nofollow, _breadcrumbs(document))


def _forbids(meta: dom.Element) -> bool:
    name = (meta.attr("name") or "").lower()
    words = (meta.attr("content") or "").lower().replace(",", " ").split()
    return name in ("robots", "pagekeep") and ("nofollow" in words or "none" in words)


def _leads_to_page(link: dom.Element) -> bool:
    kinds = set((link.attr("rel") or "").lower().split()) & _FOLLOWED
    return bool(kinds - {"alternate"}) or ("alternate" in kinds and bool(link.attr("hreflang")))


def _breadcrumbs(document: dom.Document) -> tuple[str, ...]:
    """Return the titles of the pages above this one, as the page shows them."""
    for element in dom.select(document, _BREADCRUMBS)[:3]:
        crumbs = _texts(dom.tagged(element, ("a",), MAX_BREADCRUMBS))
        if crumbs:
            return crumbs
    return ()


def _texts(elements: Iterable[dom.Element]) -> tuple[str, ...]:
    texts = (" ".join(dom.text_of(element).split())[:_MAX_CRUMB_CHARS] for element in elements)
    return tuple(text for text in texts if text)
