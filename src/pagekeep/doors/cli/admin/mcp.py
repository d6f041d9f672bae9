"""`pagekeep mcp`: the library and the web for an AI assistant, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import INTERRUPTED, errors_shown
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from pagekeep.config import Settings


@click.command(epilog=examples("mcp", "mcp --allow-write", "mcp --library ~/other.db"))
@click.option(
    "--allow-write", is_flag=True, help="Let the assistant save pages, tag and archive them. It can never delete."
)
@click.option("--library", metavar="FILE|URL", help="The library to use instead of the usual one.")
@click.option("--user", metavar="NAME", help="Whose library, where one file or server holds several.")
def mcp(allow_write: bool, library: str | None, user: str | None) -> None:
    """Serve an AI assistant over standard input and output (Model Context Protocol). It may only read, unless allowed."""
    with errors_shown():
        from pagekeep import config

        settings = config.load({"library": library, "user": user})
        try:
            from pagekeep.doors.mcp.server import make_server
        except ImportError as missing:
            raise NotFound(
                f"Serving an assistant needs a package that is not installed: {missing.name}.",
                suggestions=("Install it: pip install 'pagekeep[mcp]'",),
            ) from missing
        asyncio.run(_serve(settings, allow_write, make_server))


async def _serve(settings: Settings, allow_write: bool, make_server: Callable[..., MCPServer[Any]]) -> None:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.doors.mcp.context import Desk
    from pagekeep.library.items import open_library

    with closing(open_library(settings)) as store:
        async with Retrieval(settings) as retrieval:
            desk = Desk(store, retrieval, allow_write)
            server = make_server(lambda: desk, allow_write=allow_write)
            interrupted = await _until_interrupted(server.run_stdio_async())
    if interrupted:  # a thread waits for the next line and cannot be told to stop; all else is closed by now
        os._exit(INTERRUPTED)


async def _until_interrupted(serving: Coroutine[Any, Any, None]) -> bool:
    """Serve until standard input ends (False) or Ctrl-C is pressed (True)."""
    task, interrupt = asyncio.ensure_future(serving), asyncio.Event()
    with suppress(NotImplementedError):  # Windows has no signal handlers in its loop
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt.set)
    if sys.stdin.isatty():
        click.echo("Waiting for an assistant on standard input; see docs/assistants.md. Ctrl-C ends.", err=True)
    waiting = asyncio.ensure_future(interrupt.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        task.result()
    return not task.done()
