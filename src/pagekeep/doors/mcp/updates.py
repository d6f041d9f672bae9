"""The tools for what is new: versions and changes of pages, and the feed inbox. Foreign text is always sealed."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from pagekeep.doors.mcp.tool_calls import ContextFinder, Notice, PageString, Quote, report_errors, seal, web_address
from pagekeep.library import watch
from pagekeep.library.archive import versions
from pagekeep.library.feeds import inbox, subscriptions
from pagekeep.library.feeds.inbox import find_named
from pagekeep.library.queue import format_interval, parse_interval
from pagekeep.model import EntryQuery, Snapshot
from pagekeep.present.diff import WordDiff
from pagekeep.present.sections import split_part

MAX_VERSIONS: Final = 100
"""Versions or changes in one result."""
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
Key = Annotated[str, Field(description="ID or URL of a saved page.")]
Number = Annotated[int | None, Field(ge=1, description="Number of a version, from `history`.")]
Length = Annotated[int, Field(ge=1, le=100_000, description="Maximum number of characters.")]
Start = Annotated[int, Field(ge=0, description="Where to begin: `next_start_index` of the previous result.")]


class VersionInfo(BaseModel):
    """A stored version of a page."""

    number: int
    fetched_at: str
    source: str
    pinned: bool
    current: bool

    @classmethod
    def of(cls, version: Snapshot) -> VersionInfo:
        """Create it from a version."""
        return cls(
            number=version.number,
            fetched_at=version.fetched_at,
            source=version.source,
            pinned=version.pinned,
            current=version.current,
        )


class PageHistory(BaseModel):
    """The newest versions of a page, newest first."""

    id: str
    title: PageString
    url: str
    versions: list[VersionInfo]
    total_versions: int
    watched_every: str | None = Field(None, description="Interval at which the page is visited, if it is watched.")
    notice: Notice


class VersionText(BaseModel):
    """The text of a version, or what changed between two, or a part of it."""

    id: str
    url: str
    before: VersionInfo | None = None
    version: VersionInfo
    words_added: int | None = None
    words_removed: int | None = None
    text: str = Field(description="The text, marked as data. In a difference: [-removed-] and {+added+}.")
    start_index: int = 0
    next_start_index: int | None = Field(None, description="Where the next part begins; absent at the end.")


class PageChange(BaseModel):
    """A change of a watched page."""

    id: str
    item_id: str
    title: PageString
    url: str
    before: int
    after: int
    words_added: int
    words_removed: int
    excerpt: PageString
    found_at: str
    seen: bool


class PageChanges(BaseModel):
    """Changes of watched pages, newest first."""

    changes: list[PageChange]
    notice: Notice


def add_history_tools(server: MCPServer[Any], find_context: ContextFinder, *, allow_write: bool) -> None:
    """Add the tools; none that changes something without `allow_write`."""
    _add_history_tool(server, find_context)
    _add_reading_tools(server, find_context)
    _add_change_tool(server, find_context)
    if allow_write:
        _add_watch_tool(server, find_context)


def _add_history_tool(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def history(key: Key) -> PageHistory:
        """List the stored versions of a saved page, newest first."""
        library = find_context().library
        found = await asyncio.to_thread(versions.get_history, library, key)
        schedule = await asyncio.to_thread(watch.find_watch, library, found.item.id)
        quote = Quote()
        return PageHistory(
            id=found.item.id,
            title=quote(found.item.title),
            url=web_address(found.item.url_full),
            versions=[VersionInfo.of(version) for version in reversed(found.versions[-MAX_VERSIONS:])],
            total_versions=len(found.versions),
            watched_every=format_interval(schedule.every) if schedule else None,
            notice=quote.notice,
        )


def _add_reading_tools(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def read_version(
        key: Key,
        number: Number = None,
        at: Annotated[str | None, Field(description="Instead of `number`: a date such as 2025-03-19.")] = None,
        start_index: Start = 0,
        max_length: Length = 20_000,
    ) -> VersionText:
        """Read a saved page as it was in an earlier version."""
        context = find_context()
        found = await versions.read_version(context.library, key, context.retrieval, number=number, at=at)
        part, following = split_part(found.text.markdown, start_index, max_length)
        item = found.text.item
        return VersionText(
            id=item.id,
            url=web_address(item.url_full),
            version=VersionInfo.of(found.snapshot),
            text=seal(part, item.url_full),
            start_index=start_index,
            next_start_index=following,
        )

    @server.tool(annotations=_READS)
    @report_errors
    async def diff(
        key: Key, before: Number = None, after: Number = None, start_index: Start = 0, max_length: Length = 20_000
    ) -> VersionText:
        """Show what changed between two versions of a saved page, word by word; by default between the last two."""
        context = find_context()
        found = await versions.compare_versions(context.library, key, context.retrieval, before, after)
        part, following = split_part(_format(found.diff), start_index, max_length)
        return VersionText(
            id=found.item.id,
            url=web_address(found.item.url_full),
            before=VersionInfo.of(found.before),
            version=VersionInfo.of(found.after),
            words_added=found.diff.added,
            words_removed=found.diff.removed,
            text=seal(part, found.item.url_full),
            start_index=start_index,
            next_start_index=following,
        )


def _format(diff: WordDiff) -> str:
    signs = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    blocks = []
    for block in diff.blocks:
        parts = (f"{signs[part.operation][0]}{part.text}{signs[part.operation][1]}" for part in block.parts)
        blocks.append(f"... {block.count} unchanged ..." if block.kind == "skipped" else "".join(parts))
    return "\n\n".join(blocks)


def _add_change_tool(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def changes(
        unseen: Annotated[bool, Field(description="Only changes that the user has not seen yet.")] = False,
        limit: Annotated[int, Field(ge=1, le=MAX_VERSIONS)] = 20,
    ) -> PageChanges:
        """List changes of watched pages, newest first."""
        found = await asyncio.to_thread(watch.list_changes, find_context().library, unseen=unseen, limit=limit)
        quote = Quote()
        listed = [
            PageChange(
                id=change.id,
                item_id=item.id,
                title=quote(item.title),
                url=web_address(item.url_full),
                before=change.before,
                after=change.after,
                words_added=change.added,
                words_removed=change.removed,
                excerpt=quote(change.excerpt),
                found_at=change.found_at,
                seen=change.seen_at is not None,
            )
            for change, item in found
        ]
        return PageChanges(changes=listed, notice=quote.notice)


def _add_watch_tool(server: MCPServer[Any], find_context: ContextFinder) -> None:
    @server.tool(annotations=_CHANGES)
    @report_errors
    async def watch_item(
        key: Key, every: Annotated[str, Field(description="30m, 6h, 1d, 2w...; empty to watch it no longer.")] = "1d"
    ) -> PageHistory:
        """Watch a saved page for changes, or stop."""
        library = find_context().writable_library()
        if every:
            await asyncio.to_thread(watch.watch, library, key, parse_interval(every))
        else:
            await asyncio.to_thread(watch.unwatch, library, key)
        found = await asyncio.to_thread(versions.get_history, library, key)
        quote = Quote()
        return PageHistory(
            id=found.item.id,
            title=quote(found.item.title),
            url=web_address(found.item.url_full),
            versions=[VersionInfo.of(version) for version in reversed(found.versions[-1:])],
            total_versions=len(found.versions),
            watched_every=every or None,
            notice=quote.notice,
        )


MAX_ENTRIES: Final = 100
_EXCERPT_CHARS: Final = 300
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
    page = library.entries.find(EntryQuery(chosen, state, limit=limit, after=after, content=True))
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
