"""Read the pages of a crawl with what is known about their site: without shared text, by its platform and its selector.

The knowledge comes from the stored pages in their order, so that the same crawl always gives the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pagekeep.capture.active_rules import load_active
from pagekeep.capture.extract import extract_page
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.extraction.site import MAX_SAMPLE, MAX_SIGNS, fingerprint, learn, learn_signs
from pagekeep.library.crawl.crawls import read_pages, read_raw
from pagekeep.library.crawl.read_page import HTML, page_fields
from pagekeep.library.items.build_item import to_fetched
from pagekeep.model import Fetched, Options
from pagekeep.model.crawl import Crawl, CrawledPage
from pagekeep.model.page import PageSigns, SiteKnowledge
from pagekeep.store import Store
from pagekeep.text import strip_markdown
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.rules import Rulebook

LLMS: Final = "/llms.txt"
"""The end of the address of a site's own list of pages, which is not a page itself."""
_MAX_SAMPLES: Final = 2_000
"""Pages of all hosts together from which is learned; their fingerprints are in memory at the same time."""
_AT_A_TIME: Final = 8
"""Pages that are read at a time."""
_Sample = tuple[CrawledPage, frozenset[int]]


async def read_known_pages(store: Store, crawl: Crawl, retrieval: Retrieval) -> AsyncIterator[CrawledPage]:
    """Yield the pages of a crawl in order, each with the content that the knowledge of its site gives."""
    sites = await _learn_sites(store, crawl, retrieval)
    pages = read_pages(store, crawl.id)
    while batch := await asyncio.to_thread(lambda: list(islice(pages, _AT_A_TIME))):
        for page in await asyncio.gather(*(_apply(store, crawl, retrieval, page, sites) for page in batch)):
            yield page


async def _learn_sites(store: Store, crawl: Crawl, retrieval: Retrieval) -> Mapping[str, SiteKnowledge]:
    """Return what the pages of each host have in common."""
    samples = await asyncio.to_thread(_read_samples, read_pages(store, crawl.id))
    sites = {}
    for host, sample in samples.items():
        site = await asyncio.to_thread(learn, [shingles for _, shingles in sample])
        chosen = sample[:: max(1, len(sample) // MAX_SIGNS)][:MAX_SIGNS]
        signs = [await _read_signs(store, crawl, retrieval, one, site) for one in chosen]
        sites[host] = learn_signs(site, signs)
    return sites


def _read_samples(pages: Iterable[CrawledPage]) -> dict[str, list[_Sample]]:
    samples: dict[str, list[_Sample]] = {}
    total = 0
    for page in pages:
        sample = samples.setdefault(_host(page), [])
        if len(sample) < MAX_SAMPLE and not page.requested.endswith(LLMS):
            sample.append((replace(page, content={}), _fingerprint(page)))
            total += 1
        if total == _MAX_SAMPLES:
            break
    return samples


def _host(page: CrawledPage) -> str:
    return urlsplit(page.url).netloc


def _fingerprint(page: CrawledPage) -> frozenset[int]:
    markdown = str(page.content.get("markdown") or "")
    return fingerprint("\n".join(map(strip_markdown, markdown.split("\n"))))


async def _read_signs(
    store: Store, crawl: Crawl, retrieval: Retrieval, sample: _Sample, site: SiteKnowledge
) -> PageSigns:
    page, shingles = sample
    raw = await asyncio.to_thread(read_raw, store, crawl.id, page)
    if raw is None or raw.content_type not in HTML:
        return PageSigns()
    try:
        return await retrieval.run(SignsTask(to_fetched(raw), page.url, shingles, site, retrieval.settings))
    except StoreError:
        raise
    except PagekeepError:  # a page that takes too long: others are made alike
        return PageSigns()


async def _apply(
    store: Store, crawl: Crawl, retrieval: Retrieval, page: CrawledPage, sites: Mapping[str, SiteKnowledge]
) -> CrawledPage:
    """Return the page as its site's knowledge gives it, or as it is where that changes nothing."""
    site = sites.get(_host(page))
    if site is None or not (site.repeated or site.selector or site.rules) or page.requested.endswith(LLMS):
        return page
    raw = await asyncio.to_thread(read_raw, store, crawl.id, page)
    if raw is None or raw.content_type not in HTML:
        return page
    task = KnownPageTask(to_fetched(raw), page.url, page.content, _fingerprint(page), site, retrieval.settings)
    try:
        content = await retrieval.run(task)
    except StoreError:
        raise
    except PagekeepError:  # the page stays as it is
        return page
    return page if content is None else replace(page, content=content)


@dataclass(frozen=True, slots=True)
class SignsTask:
    """Read how a page is made, in a worker."""

    fetched: Fetched
    url: str
    shingles: frozenset[int]
    site: SiteKnowledge
    settings: Settings

    def run(self) -> PageSigns:
        """Return its signs."""
        return _signs(self.fetched, self.url, self.shingles, self.site, load_active(self.settings))


@dataclass(frozen=True, slots=True)
class KnownPageTask:
    """Extract a page again if the knowledge of its site may change it, in a worker."""

    fetched: Fetched
    url: str
    content: Mapping[str, Any]
    """The page as the crawl stored it."""
    shingles: frozenset[int]
    site: SiteKnowledge
    settings: Settings

    def run(self) -> Mapping[str, Any] | None:
        """Return its content, or `None` if it stays as it is."""
        rules = load_active(self.settings)
        if not self.shingles & self.site.repeated and self._is_usual(rules):
            return None
        options = Options(site=self.site, max_bytes=max(len(self.fetched.body), 1))
        page = extract_page(self.fetched, options, rules)
        if page.caught is not None or not page.markdown:
            return None
        breadcrumbs: Sequence[Any] = self.content.get("breadcrumbs") or ()
        return page_fields(page, tuple(map(str, breadcrumbs)))

    def _is_usual(self, rules: Rulebook) -> bool:
        """Return whether the page is made as most pages of its site are, and was read so."""
        signs = _signs(self.fetched, self.url, self.shingles, self.site, rules)
        return (self.site.selector is None or self.site.selector in signs.selectors) and not set(self.site.rules) - set(
            signs.rules
        )


def _signs(fetched: Fetched, url: str, shingles: frozenset[int], site: SiteKnowledge, rules: Rulebook) -> PageSigns:
    from pagekeep import dom
    from pagekeep.extraction.input.decode import decode
    from pagekeep.extraction.site import read_signs

    html, _ = decode(fetched.body, Options(encoding=fetched.encoding, max_bytes=max(len(fetched.body), 1)))
    return read_signs(dom.parse(html), url, shingles, site, rules)
