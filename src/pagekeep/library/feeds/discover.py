"""Finding feeds: at an address, named by a page, or at the usual paths of its site."""

from __future__ import annotations

from asyncio import to_thread
from typing import Final
from urllib.parse import urljoin

from pagekeep import extras
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound, PagekeepError, UnsupportedContent
from pagekeep.library.feeds.parse.tasks import FindFeedLinks, ParseFeed
from pagekeep.library.feeds.parse.values import FoundFeed, ParsedFeed
from pagekeep.library.feeds.subscriptions import complete_address
from pagekeep.model import Fetched

ACCEPT: Final = (
    "application/feed+json, application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, "
    "text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"
)
USUAL_PATHS: Final = (
    *("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml", "/index.xml", "/feed.json", "/feeds/posts/default"),
    *("/blog/feed", "/blog/rss.xml", "/?feed=rss2"),
)


async def find_feeds(address: str, retrieval: Retrieval, *, guess: bool = False) -> list[FoundFeed]:
    """Return the feeds at an address: the feed itself, or those that the page there names.

    With `guess`, the usual paths of the site are tried too when it names none. `NotFound` when there is no feed.
    """
    address = complete_address(address)
    fetched = await retrieval.client.download(address, accept=ACCEPT, spaced=True)
    own = await _read(fetched, retrieval)
    if own is not None:
        return [own]
    found = await retrieval.run(FindFeedLinks(fetched.body, fetched.encoding, fetched.final_url))
    if not found and guess:
        found = await _guess(fetched.final_url, retrieval)
    if not found:
        raise NotFound(
            f"No feed was found at {address:.200}.",
            suggestions=("Give the address of the feed itself.", "Let the usual paths be tried too."),
        )
    return found


async def _read(fetched: Fetched, retrieval: Retrieval) -> FoundFeed | None:
    try:
        parsed = await parse(fetched, retrieval)
    except UnsupportedContent:
        return None
    return FoundFeed(fetched.final_url, parsed.title, parsed.site)


async def parse(fetched: Fetched, retrieval: Retrieval) -> ParsedFeed:
    """Return the feed in a response, read in a worker."""
    if fetched.body.lstrip()[:1] != b"{":
        await to_thread(extras.require, "feeds", "Reading RSS and Atom feeds", error=UnsupportedContent)
    return await retrieval.run(ParseFeed(fetched.body, fetched.encoding, fetched.final_url))


async def _guess(address: str, retrieval: Retrieval) -> list[FoundFeed]:
    for path in USUAL_PATHS:
        try:
            fetched = await retrieval.client.download(urljoin(address, path), accept=ACCEPT, spaced=True)
            found = await _read(fetched, retrieval)
        except PagekeepError:
            continue
        if found is not None:
            return [found]
    return []
