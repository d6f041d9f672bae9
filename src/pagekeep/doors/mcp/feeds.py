"""The tools for the feed inbox: list its entries, read one, keep one. Text of feeds is sealed, as everywhere."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from pagekeep.doors.mcp.context import ContextFinder
from pagekeep.doors.mcp.envelope import Quote, web_address
from pagekeep.doors.mcp.report import report_errors
from pagekeep.doors.mcp.responses import Notice, PageString
from pagekeep.library.feeds import inbox, subscriptions
from pagekeep.library.feeds.search import find_named
from pagekeep.model import EntryQuery

MAX_ENTRIES: Final = 100
_EXCERPT_CHARS: Final = 300
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_KEEPS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


class FeedEntry(BaseModel):
    """An entry in the feed inbox."""

    id: str
    feed: PageString
    title: PageString
    url: str | None
    author: PageString | None
    published_at: str | None
    read: bool
    kept: bool
    excerpt: PageString


class FeedEntries(BaseModel):
    """Entries of the feed inbox, newest first."""

    entries: list[FeedEntry]
    next: str | None
    notice: Notice


class KeptEntry(BaseModel):
    """An entry that is being saved."""

    id: str
    job_id: str


def add_feed_tools(server: MCPServer[Any], find_context: ContextFinder, *, allow_write: bool) -> None:
    """Add the tools; none that changes something without `allow_write`."""
    _add_inbox_tool(server, find_context)
    if allow_write:
        _add_keep_tool(server, find_context)


def _add_inbox_tool(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def feed_inbox(
        feed: Annotated[str | None, Field(description="Name, folder or ID of feeds; all without it.")] = None,
        state: Annotated[Literal["unread", "all", "kept"], Field(description="Which entries.")] = "unread",
        limit: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] = 20,
        after: Annotated[str | None, Field(description="`next` of the previous result.")] = None,
    ) -> FeedEntries:
        """List entries of the user's feeds that wait apart from the library; `search` with `feed:` finds words in them."""
        return await asyncio.to_thread(_list_entries, find_context().library, feed, state, limit, after)


def _list_entries(library: Any, feed: str | None, state: Any, limit: int, after: str | None) -> FeedEntries:
    feeds = {one.feed.id: one.feed for one in subscriptions.list_feeds(library)}
    chosen = None if feed is None else tuple(one.id for one in find_named(tuple(feeds.values()), feed.lower()))
    page = inbox.list_entries(library, EntryQuery(chosen, state, limit=limit, after=after, content=True))
    quote = Quote()
    listed = [
        FeedEntry(
            id=entry.id,
            feed=quote(feeds[entry.feed_id].label if entry.feed_id in feeds else ""),
            title=quote(entry.title),
            url=web_address(entry.url) if entry.url else None,
            author=quote(entry.author) if entry.author else None,
            published_at=entry.published_at,
            read=entry.read_at is not None,
            kept=entry.kept_at is not None,
            excerpt=quote(entry.content[:_EXCERPT_CHARS]),
        )
        for entry in page.entries
    ]
    return FeedEntries(entries=listed, next=page.next, notice=quote.notice)


def _add_keep_tool(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_KEEPS)
    @report_errors
    async def keep_entry(key: Annotated[str, Field(description="ID of an entry, from `feed_inbox`.")]) -> KeptEntry:
        """Keep an entry of the feed inbox: its page is saved into the library in the background."""
        library = find_context().writable_library()
        job = await asyncio.to_thread(inbox.request_keep, library, key)
        return KeptEntry(id=key, job_id=job.id)
