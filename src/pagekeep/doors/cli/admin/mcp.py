"""`pagekeep mcp`: serve an AI assistant over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekeep import extras
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import examples, library_option
from pagekeep.doors.cli.output import INTERRUPTED, report_errors

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from pagekeep.config import Settings
    from pagekeep.workers import Room


@click.command(epilog=examples("mcp", "mcp --allow-write", "mcp --library ~/other.db", "mcp --pack ~/packs/manual"))
@click.option(
    "--allow-write", is_flag=True, help="Allow the assistant to save, tag and archive pages. It can never delete."
)
@click.option(
    "--pack",
    "packs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also serve this pack of a site, with search by section. Can be used several times.",
)
@library_option
@click.option("--user", metavar="NAME", help="Owner of the library. Default: the setting `user`.")
@click.option("--json", "as_json", is_flag=True, help="Print an error at the start as JSON.")
def mcp(allow_write: bool, packs: tuple[Path, ...], library: str | None, user: str | None, as_json: bool) -> None:
    """Serve an AI assistant over standard input and output (Model Context Protocol). It can only read by default."""
    with report_errors(as_json=as_json):
        from pagekeep import config

        settings = config.load({"library": library, "user": user})
        extras.require("mcp", "`pagekeep mcp`")
        from pagekeep.doors import logs
        from pagekeep.doors.mcp.server import make_server
        from pagekeep.library.packs.search import OpenPack

        opened = {folder.name: OpenPack(folder) for folder in packs}
        logs.configure(settings.log_level)  # before the library for MCP does
        with open_room(settings) as room:
            asyncio.run(_serve(settings, room, allow_write, partial(make_server, packs=opened)))


async def _serve(settings: Settings, room: Room, allow_write: bool, make_server: Callable[..., MCPServer[Any]]) -> None:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.doors.mcp.context import ToolContext
    from pagekeep.library.open import open_library

    with closing(open_library(settings)) as store:
        async with Retrieval(settings, room=room) as retrieval:
            context = ToolContext(store, retrieval, allow_write, works_alone=True)
            server = make_server(lambda: context, allow_write=allow_write)
            try:
                interrupted = await _until_interrupted(server.run_stdio_async())
            finally:
                await context.stop()
    if interrupted:  # a thread still waits for the next line and cannot be stopped; everything else is closed
        room.close()
        os._exit(INTERRUPTED)


async def _until_interrupted(serving: Coroutine[Any, Any, None]) -> bool:
    """Serve until standard input ends (return False) or Ctrl-C is pressed (return True)."""
    task, interrupt = asyncio.ensure_future(serving), asyncio.Event()
    with suppress(NotImplementedError):  # Windows has no signal handlers in its loop
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt.set)
    if sys.stdin.isatty():
        click.echo(
            "Waiting for an assistant on standard input (see docs/assistants.md). Press Ctrl-C to stop.", err=True
        )
    waiting = asyncio.ensure_future(interrupt.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        task.result()
    return not task.done()
