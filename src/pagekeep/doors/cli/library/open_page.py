"""`pagekeep open`: open a saved page in the browser."""

from __future__ import annotations

import socket
import webbrowser
from typing import TYPE_CHECKING, Final

import click

from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.model import Item

_CONNECT_SECONDS: Final = 2
"""Time for a server on this machine to answer."""


@click.command("open", epilog=examples("open 3f2a", "open 3f2a --reader", "open --reader"))
@click.argument("key", metavar="[ID|URL]", required=False)
@click.option("--reader", is_flag=True, help="Open it in the reader of the running `pagekeep serve`, not on its site.")
@library_options
def open_page(key: str | None, reader: bool, library: str | None, user: str | None, as_json: bool) -> None:
    """Open a saved page in the browser: on its site, or in the reader. Without a page, open the reader's list."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items import get_item

        item = get_item(store, key) if key else None
        address = item.url_full if item and not reader else _reader_address(settings, item)
        if not webbrowser.open(address):
            raise NotFound(
                f"No browser can be started here to open {address}",
                suggestions=("Open the address by hand, or set the variable BROWSER to the command of your browser.",),
            )
        if as_json:
            write_json({"address": address})
        else:
            write(f"Opened {address}")


def _reader_address(settings: Settings, item: Item | None) -> str:
    """Return the address of the page in the running server; raise `NotFound` when none answers."""
    host, _, port = settings.listen.rpartition(":")
    name = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "::1"}.get(host, host.strip("[]"))
    try:
        socket.create_connection((name, int(port)), _CONNECT_SECONDS).close()
    except (OSError, ValueError):
        raise NotFound(
            f"No server answers at {settings.listen}.", suggestions=("Start the reader: pagekeep serve",)
        ) from None
    page = f"items/{item.id}" if item else ""
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/{page}"
