"""`pagekeep mcp`: the library and the web for an AI assistant, over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.library import examples
from pagekeep.doors.cli.show import errors_shown

if TYPE_CHECKING:
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

        asyncio.run(_serve(config.load({"library": library, "user": user}), allow_write))


async def _serve(settings: Settings, allow_write: bool) -> None:
    from pagekeep.app.capture import Retrieval
    from pagekeep.app.library import open_library
    from pagekeep.doors.mcp.desk import Desk
    from pagekeep.doors.mcp.server import make_server

    with closing(open_library(settings)) as store:
        async with Retrieval(settings) as retrieval:
            desk = Desk(store, retrieval, allow_write)
            await make_server(lambda: desk, allow_write=allow_write).run_stdio_async()
