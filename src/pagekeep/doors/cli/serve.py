"""`pagekeep serve` and `pagekeep mcp`: serve the library over HTTP, or an AI assistant over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import click

from pagekeep import extras
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import open_room
from pagekeep.doors.cli.options import examples, json_command, library_option
from pagekeep.doors.cli.output import INTERRUPTED, report_errors, write, write_json

with lazily():
    from mcp.server.mcpserver import MCPServer

    from pagekeep import config
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.config import Settings
    from pagekeep.doors import logs
    from pagekeep.doors.http import serve as serving
    from pagekeep.doors.mcp.server import make_server
    from pagekeep.doors.mcp.tool_calls import ToolContext
    from pagekeep.library.open import open_library, require_writable
    from pagekeep.library.packs.folder import OpenPack
    from pagekeep.workers import Room


@click.command(
    epilog=examples(
        "serve",
        "serve --open",
        "serve --port 9000",
        "serve --shared --host 0.0.0.0 --library postgresql://localhost/pagekeep --workers 4",
    )
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on. Default: only this machine can connect.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 for any free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of processes.")
@click.option(
    "--shared", is_flag=True, default=None, help="Several users, who sign in. Add them with `pagekeep user add`."
)
@click.option(
    "--open", "open_browser", is_flag=True, help="Open the reader in the browser when the server has started."
)
@library_option
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    help="Lowest level to log. Default: info.",
)
@json_command
def serve(
    host: str | None,
    port: int | None,
    workers: int,
    open_browser: bool,
    as_json: bool,
    **flags: str | bool | None,
) -> None:
    """Start the server: the reader for your browser, and an API for programs. Stop it with Ctrl-C."""
    settings = config.load({**flags, "listen": _listen(config.load(flags).listen, host, port)})
    extras.require("server", "`pagekeep serve`", also=("mcp", "documents"))

    require_writable(settings)
    _export_to_workers({**flags, "listen": settings.listen})
    logs.configure(settings.log_level)
    serving.serve(settings, workers=workers, ready=lambda address: _show_address(address, open_browser, as_json))


def _show_address(address: str, open_browser: bool, as_json: bool) -> None:
    if as_json:
        write_json({"address": address})
    else:
        write(f"Pagekeep is at {address}")
    if open_browser:
        import webbrowser

        # In a thread: some browsers return only when they are closed, and the server must answer meanwhile.
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _listen(setting: str, host: str | None, port: int | None) -> str:
    """Return the setting `listen` with the host and port of the flags put in."""
    old_host, _, old_port = setting.rpartition(":")
    new_host = old_host if host is None else f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{new_host}:{old_port if port is None else port}"


def _export_to_workers(flags: dict[str, str | bool | None]) -> None:
    """Put the flags into the environment, where the server's processes read their settings."""
    from pagekeep.config import PREFIX

    for name, value in flags.items():
        if value is not None:
            os.environ[PREFIX + name.upper()] = "true" if value is True else str(value)


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
        settings = config.load({"library": library, "user": user})
        extras.require("mcp", "`pagekeep mcp`")

        opened = {folder.name: OpenPack(folder) for folder in packs}
        logs.configure(settings.log_level)  # before the library for MCP does
        with open_room(settings) as room:
            asyncio.run(_serve(settings, room, allow_write, partial(make_server, packs=opened)))


async def _serve(settings: Settings, room: Room, allow_write: bool, make_server: Callable[..., MCPServer[Any]]) -> None:
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
