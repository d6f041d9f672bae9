"""Follow the links of a page to the rest of its article: fetch every page, and join those that belong to it.

Every page is fetched as the first one is: by the same client, and with the same options. A worker reads each of them."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final

from pagekeep.capture.extract import ReadTask
from pagekeep.capture.joined_file import MAX_PAGES, Part, Parts, is_joined, pack
from pagekeep.capture.measure import JOINING, Stage
from pagekeep.errors import BlockedAddress, PagekeepError
from pagekeep.model import Fetched, Metadata, Options, Page, PageWarning
from pagekeep.model.page import Continuation, PageLink
from pagekeep.rules import hosts
from pagekeep.text import normalise_url
from pagekeep.values import dataclass

if TYPE_CHECKING:
    from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval


MAX_BYTES: Final = 5_000_000
"""All pages of one article, after decompression."""
MAX_SECONDS: Final = 60.0
"""For fetching all pages after the first."""
_MAX_WHOLE: Final = 3
"""Links to all of the article that are tried."""
_GOOD: Final = ("article", "simplified")


async def join_pages(
    captured: Captured,
    request: Request,
    retrieval: Retrieval,
    options: Options,
    progress: Progress,
    *,
    uploaded: bool = False,
) -> Captured:
    """Return the article with all its pages, if the captured page is the first of several; else the page as it is.

    Pages that were joined are kept when a later one fails, with a warning. If the addresses are private, nothing is joined. If
    the first page was rendered, so are the others, unless it was `uploaded`: then it was the user's browser that rendered it.
    """
    links = captured.page.continuation
    wanted = retrieval.settings.join_pages if request.join_pages is None else request.join_pages
    if not wanted or links is None or is_joined(captured.fetched) or not _may_go_on(captured.page, links):
        return captured
    render = captured.fetched.rendered and not uploaded
    follower = _Follower(captured, request, retrieval, options, progress, render)
    try:
        pages = await follower.find_whole(links) or await follower.follow(links)
    except BlockedAddress:
        return captured
    if pages is None:
        return captured
    if len(pages.parts) == 1:
        return _warn(captured, pages.missing)
    progress(JOINING)
    fetched = pack(pages)
    page = await retrieval.extract(fetched, options)
    return replace(captured, page=page, fetched=fetched)


def _may_go_on(page: Page, links: Continuation) -> bool:
    from pagekeep.extraction.pages import may_continue  # it loads the pipeline

    first = links.next or links.single[0]
    return page.quality.level in _GOOD if first.by_rule else may_continue(page)


def _warn(captured: Captured, missing: str | None) -> Captured:
    """Return the first page alone; the server must send it again next time, as the others may be there then."""
    if missing is None:
        return captured
    page = captured.page.with_warnings(PageWarning("pages_missing", missing))
    return replace(captured, page=page, fetched=replace(captured.fetched, etag=None, last_modified=None))


class _Follower:
    """Fetches the pages of one article, one after the other."""

    def __init__(
        self,
        captured: Captured,
        request: Request,
        retrieval: Retrieval,
        options: Options,
        progress: Progress,
        render: bool,
    ) -> None:
        self.first = captured
        self.request = request
        self.retrieval = retrieval
        self.options = options
        self.progress = progress
        self.render = render
        self.ends_at = monotonic() + MAX_SECONDS
        self.parts = [Part(captured.fetched)]
        self.texts = [captured.page.text]
        self.size = len(captured.fetched.body)
        self.seen = {_plain(captured.fetched.url), _plain(captured.fetched.final_url)}

    async def find_whole(self, links: Continuation) -> Parts | None:
        """Return the first page and the one that has all of the article, if there is one."""
        for link in links.single[:_MAX_WHOLE]:
            try:
                fetched = await self._fetch(link, Stage("fetch", "Fetching all of the article"))
            except PagekeepError:
                continue
            if fetched is None:
                continue
            read = await self._read(fetched, link, None)
            if read.refused is None and read.caught is None:
                return Parts((self.parts[0], Part(fetched, link.reason, "whole")))
        return None

    async def follow(self, links: Continuation) -> Parts | None:
        """Return the pages that were joined, and what is missing; `None` if there is nothing to join."""
        link, missing = links.next, None
        while link is not None and missing is None:
            number = link.number or len(self.parts) + 1
            if len(self.parts) >= MAX_PAGES:
                missing = f"The article has more than {MAX_PAGES} pages; the others were left out."
                break
            try:
                fetched = await self._fetch(link, Stage("fetch", f"Fetching page {number}"))
                read = await self._read(fetched, link, number) if fetched else None
            except BlockedAddress:
                raise
            except PagekeepError as error:
                missing = f"Page {number} of the article could not be fetched: {error.message}"
                break
            if fetched is None or read is None or read.refused is not None:
                break
            if read.caught is not None:
                missing = f"Page {number} of the article is missing: {read.caught}"
            elif self.size + len(fetched.body) > MAX_BYTES:
                missing = f"The pages of the article have more than {MAX_BYTES / 1e6:g} MB; page {number} was left out."
            else:
                self._keep(fetched, link, read)
                link = _next_of(read.continuation, link)
                if link and monotonic() >= self.ends_at:
                    missing = (
                        f"The pages after page {number} were left out: fetching them took over {MAX_SECONDS:g} seconds."
                    )
        return Parts(tuple(self.parts), missing) if missing or len(self.parts) > 1 else None

    def _keep(self, fetched: Fetched, link: PageLink, read: NextPage) -> None:
        self.parts.append(Part(fetched, f"{link.reason}; {read.why}" if read.why else link.reason))
        self.texts.append(read.text)
        self.size += len(fetched.body)

    async def _fetch(self, link: PageLink, stage: str) -> Fetched | None:
        """Return a page of the same site that is not known yet; `None` for one that cannot be a page of the article."""
        first = self.first.fetched.final_url
        if _plain(link.url) in self.seen or not _is_same_site(link.url, first, by_rule=link.by_rule):
            return None
        self.seen.add(_plain(link.url))
        self.progress(stage)
        is_own = _origin(link.url) == _origin(first)
        headers, cookies = (self.request.headers, self.request.cookies) if is_own else ({}, {})
        left = max(1.0, self.ends_at - monotonic())
        if self.render:
            seconds = min(left, self.request.render_timeout or self.retrieval.settings.render_timeout)
            browser = await self.retrieval.browser()
            fetched = await browser.render(
                link.url, wait_for=self.request.wait_for, timeout=seconds, headers=headers, cookies=cookies
            )
        else:
            seconds = min(left, self.request.timeout or self.retrieval.settings.timeout)
            fetched = await self.retrieval.client.fetch(link.url, headers=headers, cookies=cookies, deadline=seconds)
        known = _plain(fetched.final_url) in self.seen and _plain(fetched.final_url) != _plain(link.url)
        if known or "html" not in fetched.content_type:
            return None
        self.seen.add(_plain(fetched.final_url))
        return fetched if _is_same_site(fetched.final_url, first, by_rule=link.by_rule) else None

    async def _read(self, fetched: Fetched, link: PageLink, number: int | None) -> NextPage:
        options = replace(self.options, saved_at=None, find_pages=number)
        read = await self.retrieval.prepare(fetched, options)
        about, url = self.first.page.metadata, self.first.fetched.final_url
        return await self.retrieval.run(NextPageTask(read, about, url, tuple(self.texts), link))


def _next_of(links: Continuation | None, link: PageLink) -> PageLink | None:
    """Return the link to the page after the one that a link led to; where a rule names them, it names all."""
    following = links.next if links else None
    return following if following and following.by_rule == link.by_rule else None


def _plain(url: str) -> str:
    """Return an address in a form in which two that lead to the same page are equal."""
    return normalise_url(url.partition("#")[0])


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3]).lower()


def _is_same_site(url: str, first: str, *, by_rule: bool) -> bool:
    """Return whether a page is on the host of the first one; if a rule names it, on the same site."""
    own, other = hosts.of_url(first), hosts.of_url(url)
    if own is None or other is None or not url.lower().startswith(("http://", "https://")):
        return False
    if own.bare == other.bare:
        return True
    return by_rule and (site := hosts.registrable(own.name)) is not None and site == hosts.registrable(other.name)


_NOT_PAGES: Final = frozenset({"listing", "collection", "forum", "product"})
"""Kinds of pages that do not continue an article."""


@dataclass(frozen=True, slots=True)
class NextPage:
    """What was found on another page."""

    text: str = ""
    why: str = ""
    """Why it belongs to the article."""
    refused: str | None = None
    """Why it does not."""
    caught: str | None = None
    """What came instead of the page, if something did."""
    continuation: Continuation | None = None


@dataclass(frozen=True, slots=True)
class NextPageTask:
    """Read a page, and compare it with the pages of the article before it."""

    read: ReadTask
    first: Metadata
    """Of the first page."""
    url: str
    """Of the first page."""
    kept: tuple[str, ...]
    """The texts of the pages before."""
    link: PageLink

    def run(self) -> NextPage:
        """Return the text of the page, and whether it belongs to the article."""
        from pagekeep.extraction.pages import compare

        page = self.read.read()
        if page.caught is not None:
            return NextPage(caught=f"{page.caught.reason}.")
        why = compare.same_work(self.first, self.url, page.metadata, self.link.number)
        if why is None and not self.link.by_rule:
            return NextPage(refused="neither its title nor the address that it names are those of the article")
        is_whole = self.read.options.find_pages is None
        if not is_whole and not self.link.by_rule and page.kind in _NOT_PAGES:
            return NextPage(refused=f"it is not an article but a {page.kind}")
        if page.strategy in ("bookmark", "discarded"):
            return NextPage(caught="no content was found on it.")
        refused = compare.lacks(page.text, self.kept[0]) if is_whole else compare.why_known(page.text, self.kept)
        return NextPage(page.text, why or "", refused, None, page.continuation)
