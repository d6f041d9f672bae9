"""`pagekeep edit`: edit what a page says about itself."""

from __future__ import annotations

import click

from pagekeep.doors.cli.item_output import result_line, show_results
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options

_FIELDS = {"title": "title", "author": "author", "date": "published_at", "site": "site_name"}


@click.command(
    epilog=examples(
        'edit 3f2a --title "The harbour at night"',
        'edit 3f2a --author "" --date 2024-05',
        "edit 3f2a --reset title --reset author",
    )
)
@click.argument("key", metavar="ID|URL")
@click.option("--title", help="The title.")
@click.option("--author", help="The author; empty for none.")
@click.option("--date", metavar="DATE", help="The date of publication, such as 2024-05-17; empty for none.")
@click.option("--site", help="The name of the site; empty for none.")
@click.option(
    "--reset",
    multiple=True,
    type=click.Choice(tuple(_FIELDS)),
    help="Use the page's own value again. Can be repeated.",
)
@library_options
def edit(
    key: str,
    title: str | None,
    author: str | None,
    date: str | None,
    site: str | None,
    reset: tuple[str, ...],
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Edit a page's title, author, date and site, in place of what the page says.

    Edits are kept when the page is extracted or fetched again. `undo` takes them back.
    """
    given = {"title": title, "author": author, "published_at": date, "site_name": site}
    values = {name: value for name, value in given.items() if value is not None}
    if not values and not reset:
        raise click.UsageError("Give at least one of --title, --author, --date, --site and --reset.")
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.lists.edit import edit_item
        from pagekeep.library.undo import remember_action

        done = edit_item(store, key, values, reset=[_FIELDS[name] for name in reset])
        remember_action(settings, "edit", done.action.id)
        show_results(done.items, as_json, result_line("Edited"))
