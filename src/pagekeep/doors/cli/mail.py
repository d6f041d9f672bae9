"""`pagekeep mail`: newsletters from folders of mailboxes."""

from __future__ import annotations

from typing import Any, Final

import click

from pagekeep.doors.cli.lazy import LazyGroup, lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import BAD_INPUT, format_count, show_table, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.feeds.mail_poll import poll as run
    from pagekeep.library.feeds.mail_sources import add_source, change_source, get_source, remove_source
    from pagekeep.library.feeds.mail_sources import list_sources as find
    from pagekeep.library.queue import format_interval, parse_interval
    from pagekeep.model import MailSource
    from pagekeep.present import feed_shapes
    from pagekeep.present.json_shapes import to_json


COMMANDS: Final = {
    "add": ("mail:add", "Add a folder of a mailbox, whose newsletters arrive in the feed inbox."),
    "list": ("mail:list_sources", "List the mail sources, and which senders were left out."),
    "change": ("mail:change", "Change whose messages are taken, or how often a mail source is polled."),
    "poll": ("mail:poll", "Read new messages now: of the mail sources named, or of all."),
    "remove": ("mail:remove", "Remove a mail source; its newsletters stay in the feed inbox."),
}
"""Command name to module and function, in the order of the help."""
_SHOWN_OTHERS: Final = 10


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS}, epilog=examples("mail list", "mail poll"))
def mail() -> None:
    """Read newsletters from folders of mailboxes (IMAP) into the feed inbox.

    Folders are opened read-only: no message is marked as read, moved or deleted. The password comes from the settings
    `mail_account` and `mail_password` (PAGEKEEP_MAIL_ACCOUNT, PAGEKEEP_MAIL_PASSWORD), or from the command in
    `mail_password_command`; it is never stored in the library.
    """


senders_option = click.option(
    "--from",
    "senders",
    multiple=True,
    metavar="ADDRESS|DOMAIN",
    help="Take messages of this sender, or of all senders of a domain; `*` takes all. Can be repeated.",
)


@click.command(
    epilog=examples(
        "mail add imap.example.com ann@example.com --from letters.example.org",
        "mail add imap.example.com ann@example.com --folder Newsletters --from '*' --every 1h",
    )
)
@click.argument("host")
@click.argument("account", metavar="USER")
@senders_option
@click.option("--folder", default="INBOX", show_default=True, help="Folder of the mailbox.")
@click.option("--port", type=click.IntRange(1, 65_535), help="Port of the server.  [default: 993, or 143 with --plain]")
@click.option("--plain", is_flag=True, help="Connect without encryption; only to this machine.")
@click.option("--every", default="15m", show_default=True, help="How often it is polled: 5m to 90d.")
@library_command(create=True)
def add(opened: OpenLibrary, host: str, account: str, **options: Any) -> None:
    """Add a folder of a mailbox, whose newsletters arrive in the feed inbox.

    It is polled by `pagekeep work` and by the server. Adding a folder again changes its senders and interval.
    """
    source, is_new = add_source(
        opened.store,
        opened.settings,
        host,
        account,
        senders=options["senders"],
        folder=options["folder"],
        port=options["port"],
        security="plain" if options["plain"] else "tls",
        every=parse_interval(options["every"]),
    )
    _show_one(opened, source, "Added" if is_new else "Changed")


@click.command("list", epilog=examples("mail list", "mail list --json"))
@library_command
def list_sources(opened: OpenLibrary) -> None:
    """List the mail sources, and which senders were left out."""
    sources = find(opened.store)
    if opened.as_json:
        write_json({"sources": [_shape(source) for source in sources]})
        return
    rows = [
        [
            source.id[:8],
            format_interval(source.every),
            (source.polled_at or "")[:16].replace("T", " "),
            f"{source.counts['added']:,}",
            f"{source.counts['unwanted']:,}",
            source.label,
            source.error or "",
        ]
        for source in sources
    ]
    show_table([["id", "every", "last poll", "added", "others", "mailbox", "last error"], *rows])
    for source in sources:
        if source.others:
            latest = list(source.others.items())[-_SHOWN_OTHERS:][::-1]
            names = ", ".join(f"{printable(sender)} ({count})" for sender, count in latest)
            click.echo(f"Other senders in {printable(source.label)}: {names}", err=True)


@click.command(
    epilog=examples("mail change 3f2a --from letters.example.org --from bo@example.com", "mail change 3f2a --every 1h")
)
@click.argument("key", metavar="ID")
@senders_option
@click.option("--every", help="How often it is polled: 5m to 90d.")
@library_command(open_late=True)
def change(opened: OpenLibrary, key: str, senders: tuple[str, ...], every: str | None) -> None:
    """Change whose messages are taken, or how often a mail source is polled.

    The senders replace the former ones. After new ones, the messages of the last 30 days are looked through again.
    """
    if not senders and every is None:
        raise click.UsageError("Name senders with --from, or an interval with --every.")

    seconds = parse_interval(every) if every is not None else None
    _show_one(opened, change_source(opened.store, key, senders=senders or None, every=seconds), "Changed")


@click.command(epilog=examples("mail remove 3f2a"))
@click.argument("key", metavar="ID")
@library_command
def remove(opened: OpenLibrary, key: str) -> None:
    """Remove a mail source; its newsletters stay in the feed inbox."""
    _show_one(opened, remove_source(opened.store, key), "Removed")


@click.command(epilog=examples("mail poll", "mail poll 3f2a"))
@click.argument("keys", nargs=-1, metavar="ID...")
@library_command
def poll(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Read new messages now: of the mail sources named, or of all."""
    import asyncio

    store = opened.store
    sources = [get_source(store, key) for key in keys] if keys else list(find(store))
    asyncio.run(_poll_all(sources, opened))
    polled = [get_source(store, source.id) for source in sources]
    if opened.as_json:
        failed = any(source.error for source in polled)
        write_json({"success": not failed, "sources": [_shape(source) for source in polled]})
    else:
        for before, after in zip(sources, polled, strict=True):
            added = after.counts["added"] - before.counts["added"]
            write(f"{printable(after.label)}: {after.error or format_count(added, 'new message')}")
    if any(source.error for source in polled):
        raise click.exceptions.Exit(BAD_INPUT)


async def _poll_all(sources: list[MailSource], opened: OpenLibrary) -> None:
    with open_room(opened.settings) as room:
        async with Retrieval(opened.settings, room=room) as retrieval:
            for source in sources:
                await run(source, opened.store, retrieval)


def _shape(source: MailSource) -> Any:
    return to_json(feed_shapes.MailSource, source, every=format_interval(source.every))


def _show_one(opened: OpenLibrary, source: MailSource, done: str) -> None:
    senders = printable(", ".join(source.senders))
    opened.show({"source": _shape(source)}, f"{done}  {source.id[:8]}  {printable(source.label)}  from {senders}")
