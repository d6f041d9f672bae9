"""Tools for packs: the contents of a manual, its pages by section, and a search over them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from pagekeep.doors.mcp.context import ContextFinder, ToolContext
from pagekeep.doors.mcp.envelope import Quote, unquote, web_address
from pagekeep.doors.mcp.parts import cut_part, seal_part
from pagekeep.doors.mcp.report import report_errors
from pagekeep.doors.mcp.responses import Notice, PageString
from pagekeep.errors import NotFound
from pagekeep.library.packs.folder import PackFile
from pagekeep.library.packs.search import OpenPack
from pagekeep.workers import DOCUMENT

MAX_CHARS: Final = 100_000
_MAX_PAGES: Final = 200
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
PackName = Annotated[str | None, Field(description="Name of the pack, if there are several.")]


class PackContents(BaseModel):
    """The pages of a pack, in the order of its manual."""

    packs: list[str] = Field(description="The names of all packs.")
    title: PageString
    url: str
    pages: list[dict[str, Any]]
    total_pages: int
    next_start_index: int | None = Field(None, description="Where the next pages begin; absent at the end.")
    notice: Notice


class PackHits(BaseModel):
    """Sections of a pack, best match first."""

    results: list[dict[str, str]]
    notice: Notice


class PackText(BaseModel):
    """A page of a pack or a section of it."""

    title: PageString
    path: str
    url: str
    text: str = Field(description="The text, marked as data, not instructions.")
    start_index: int = 0
    next_start_index: int | None = None
    total_length: int
    notice: Notice


def add_pack_tools(server: MCPServer[Any], find_context: ContextFinder, packs: Mapping[str, OpenPack]) -> None:
    """Add the tools; all of them only read."""
    _add_contents(server, packs)
    _add_search(server, find_context, packs)
    _add_reading(server, find_context, packs)


def _add_contents(server: MCPServer[Any], packs: Mapping[str, OpenPack]) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def list_pack(
        pack: PackName = None,
        start_index: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=_MAX_PAGES)] = 100,
    ) -> PackContents:
        """List the pages of a pack (a site or manual that was crawled) in the order of its navigation."""
        opened, quote = _choose(packs, pack), Quote()
        files = opened.manifest.files
        end = start_index + limit
        return PackContents(
            packs=list(packs),
            title=quote(opened.manifest.title),
            url=web_address(opened.manifest.url),
            pages=[_page(file, quote) for file in files[start_index:end]],
            total_pages=len(files),
            next_start_index=end if end < len(files) else None,
            notice=quote.notice,
        )


def _add_search(server: MCPServer[Any], find_context: ContextFinder, packs: Mapping[str, OpenPack]) -> None:
    indexing = asyncio.Lock()

    @server.tool(annotations=_READS)
    @report_errors
    async def search_pack(
        query: str, pack: PackName = None, limit: Annotated[int, Field(ge=1, le=50)] = 10
    ) -> PackHits:
        """Search a pack by words; returns sections with their page, to be read with `read_pack`."""
        quote = Quote()
        opened = _choose(packs, pack)
        async with indexing:
            await _index(opened, find_context())
        found = await asyncio.to_thread(opened.search, query, limit)
        results = [
            {
                "path": one.path,
                "url": web_address(one.url),
                "title": quote(one.title),
                "section": one.number,
                "heading": quote(one.section),
                "text": quote(one.snippet),
            }
            for one in found
        ]
        return PackHits(results=results, notice=quote.notice)


def _add_reading(server: MCPServer[Any], find_context: ContextFinder, packs: Mapping[str, OpenPack]) -> None:
    @server.tool(annotations=_READS)
    @report_errors
    async def read_pack(
        path: Annotated[str, Field(description="Path, URL or title of a page of the pack.")],
        section: Annotated[str | None, Field(description="Only this section: its number or title.")] = None,
        pack: PackName = None,
        start_index: Annotated[int, Field(ge=0)] = 0,
        max_length: Annotated[int, Field(ge=1, le=MAX_CHARS)] = 20_000,
    ) -> PackText:
        """Read a page of a pack, or one section of it. Long texts are returned in parts."""
        opened, quote = _choose(packs, pack), Quote()
        file = opened.find(unquote(path))
        text = await asyncio.to_thread(opened.read, file)
        part = await cut_part(find_context(), text, section, start_index, max_length, file.url)
        return PackText(
            title=quote(file.title),
            path=file.path,
            url=web_address(file.url),
            text=seal_part(part, file.url),
            start_index=start_index,
            next_start_index=part.following,
            total_length=part.length,
            notice=quote.notice,
        )


async def _index(opened: OpenPack, context: ToolContext) -> None:
    """Make the index of a pack at its first search: its texts are read in workers."""
    if tasks := opened.waiting_tasks():
        parts = [await context.retrieval.run(task, DOCUMENT) for task in tasks]
        await asyncio.to_thread(opened.index, [row for part in parts for row in part])


def _choose(packs: Mapping[str, OpenPack], name: str | None) -> OpenPack:
    if name is None:
        return next(iter(packs.values()))
    if name not in packs:
        raise NotFound(f"There is no pack {name[:100]!r}.", suggestions=(f"Packs: {', '.join(packs)}.",))
    return packs[name]


def _page(file: PackFile, quote: Quote) -> dict[str, Any]:
    return {
        "path": file.path,
        "title": quote(file.title),
        "section": quote(" / ".join(file.section)),
        "level": file.level,
        "url": web_address(file.url),
    }
