"""`pagekeep explain`: how the content of a page was found, from the library, the web or a file."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.explain import explain as explained
from pagekeep.doors.cli.extract import from_address, from_file, is_address, show_explanation
from pagekeep.doors.cli.library import examples, library_options, opened
from pagekeep.doors.cli.show import errors_shown, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.model import Options, Page


@click.command(epilog=examples("explain 3f2a", "explain https://example.com/post", "explain page.html"))
@click.argument("source", metavar="ID|URL|FILE|-")
@library_options
def explain(source: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Tell which level won and why, what was removed, and where the metadata came from.

    A saved page is read again as it was stored; an address that is not in the library is fetched.
    """
    with errors_shown(as_json=as_json):
        from pagekeep import Options

        options = Options(timer=time.perf_counter)
        page = _page(source, options, library, user, as_json)
        if as_json:
            write_json({**page.to_json(), "explanation": explained(page)})
        else:
            show_explanation(page)


def _page(source: str, options: Options, library: str | None, user: str | None, as_json: bool) -> Page:
    if source == "-" or (os.path.isfile(source) and not is_address(source)):
        return from_file(source, None, options)
    stored = _stored(source, options, library, user, as_json)
    if stored is not None:
        return stored
    if is_address(source):
        return from_address(source, options)
    raise NotFound("The page as it was fetched was not kept.", suggestions=("Explain its address instead.",))


def _stored(key: str, options: Options, library: str | None, user: str | None, as_json: bool) -> Page | None:
    """The saved page, read again; `None` for an address that is not there, or a page whose raw form is not."""
    with opened(library, user, as_json) as (settings, store):
        from pagekeep.app.capture import read_page
        from pagekeep.app.entry import fetched_again
        from pagekeep.app.library import find
        from pagekeep.app.rulebook import in_force

        try:
            raw = store.raw(find(store, key).id)
        except NotFound:
            if is_address(key):
                return None
            raise
        return read_page(fetched_again(raw), options, in_force(settings)) if raw else None
