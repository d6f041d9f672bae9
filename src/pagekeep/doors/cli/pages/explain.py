"""`pagekeep explain`: how the content of a page was found, from the library, the web or a file."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.open_library import examples, library_options, opened
from pagekeep.doors.cli.output import errors_shown, write_json
from pagekeep.doors.cli.pages.extract import from_address, from_file, is_address, show_explanation
from pagekeep.errors import NotFound
from pagekeep.present.explain import explain as explained

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
        page = page_of(source, options, as_json=as_json, library=library, user=user)
        if as_json:
            write_json({**page.to_json(), "explanation": explained(page)})
        else:
            show_explanation(page)


def page_of(
    source: str, options: Options, *, url: str | None = None, as_json: bool = False, **flags: str | None
) -> Page:
    """The page a user names: a file or stdin, a saved page by id or address, else an address that is fetched.

    `flags` are settings: the library, its user, the folder of rules.
    """
    if source == "-" or (os.path.isfile(source) and not is_address(source)):
        return from_file(source, url, options, **flags)
    stored = _stored(source, options, as_json, flags)
    if stored is not None:
        return stored
    if is_address(source):
        return from_address(source, options, rules=flags.get("rules"))
    raise NotFound("The page as it was fetched was not kept.", suggestions=("Explain its address instead.",))


def _stored(key: str, options: Options, as_json: bool, flags: dict[str, str | None]) -> Page | None:
    """The saved page, read again; `None` for an address that is not there, or a page whose raw form is not."""
    where = flags.get("library"), flags.get("user")
    with opened(*where, as_json, make=True, rules=flags.get("rules")) as (settings, store):
        from pagekeep.capture.from_url import read_page
        from pagekeep.library.build_item import fetched_again
        from pagekeep.library.items import find

        try:
            raw = store.raw(find(store, key).id)
        except NotFound:
            if is_address(key):
                return None
            raise
        return read_page(fetched_again(raw), options, rules_in_force(settings)) if raw else None
