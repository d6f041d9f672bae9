"""`pagekeep feeds`: subscribe to feeds, read the feed inbox, keep entries, and publish lists as feeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pagekeep.doors.cli.history import with_retrieval
from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples, log_option
from pagekeep.doors.cli.output import format_count, show_progress, show_table, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.doors import published_feeds
    from pagekeep.doors.cli.item_output import result_line
    from pagekeep.library.feeds import inbox as entries
    from pagekeep.library.feeds import subscriptions
    from pagekeep.library.feeds.inbox import find_named, keep_entry
    from pagekeep.library.feeds.poll import poll_now
    from pagekeep.library.feeds.subscriptions import (
        add_feed,
        change_feed,
        count_entries,
        export_list,
        find_feeds,
        get_feed,
        import_list,
        read_list,
        remove_feed,
    )
    from pagekeep.library.queue import parse_interval
    from pagekeep.model import EntryCounts, EntryQuery, FeedSettings
    from pagekeep.present import feed_shapes
    from pagekeep.present.feed_shapes import feed_shape, whole_entry_shape
    from pagekeep.present.json_shapes import to_json

_CONTENTS = ("feed", "page", "link")


def _setting_options(command: Any) -> Any:
    """Add the options that set how a feed is read."""
    for option in (
        click.option("--every", metavar="INTERVAL", help="Poll every 30m, 6h, 1d...; `auto` follows the feed."),
        click.option(
            "--keep-days",
            type=click.IntRange(0, 10_000),
            help="Days that entries stay, but for the newest 10; 0 sets no limit.",
        ),
        click.option("--keep-count", type=click.IntRange(0, 10_000), help="Entries that stay; 0 sets no limit."),
        click.option("--exclude", multiple=True, metavar="WORDS", help="Leave out entries with these words."),
        click.option("--include", multiple=True, metavar="WORDS", help="Only entries with these words (any of them)."),
        click.option(
            "--content",
            type=click.Choice(_CONTENTS),
            help="What entries show: what the feed carries, the whole article from its page, or a summary and the link.",
        ),
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag of pages kept from this feed."),
        click.option("--name", help="Name to show instead of the feed's title."),
        click.option("--folder", help="Folder, or folders separated by `/`."),
    ):
        command = option(command)
    return command


def _read_settings(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that were given on the command line."""
    every = values.pop("every")
    given = {name: value for name, value in values.items() if value is not None and value != ()}
    if every is not None:
        given["every"] = None if every == "auto" else parse_interval(every)
    return given


@click.group(epilog=examples("feeds add example.com", "feeds inbox", "feeds keep 3f2a"))
def feeds() -> None:
    """Subscribe to feeds, read their entries, keep some as pages, and publish lists of pages as feeds."""


@feeds.command(
    epilog=examples("feeds add example.com", "feeds add https://example.com/feed.xml --folder News --tag news")
)
@click.argument("addresses", nargs=-1, required=True, metavar="URL...")
@click.option("--guess", is_flag=True, help="If a page names no feed, try the usual paths of its site.")
@click.option("--all", "every_one", is_flag=True, help="If a page names several feeds, subscribe to all of them.")
@_setting_options
@library_command(create=True)
def add(
    opened: OpenLibrary, addresses: tuple[str, ...], guess: bool, every_one: bool, folder: str | None, **values: Any
) -> None:
    """Subscribe to feeds: the address of a feed, or of a page that names its feed. New entries arrive by polling."""
    chosen, shapes = FeedSettings(**_read_settings(values)), []
    for address in addresses:
        found = with_retrieval(opened.settings, lambda retrieval, url=address: find_feeds(url, retrieval, guess=guess))  # type: ignore[misc]
        for one in found if every_one else found[:1]:
            feed, is_new = add_feed(
                opened.store, one.address, title=one.title, site=one.site, folder=folder or "", settings=chosen
            )
            shapes.append({**feed_shape(feed, EntryCounts()), "added": is_new})
            if not opened.as_json:
                state = "Subscribed" if is_new else "Already subscribed"
                write(f"{state}  {short_id(feed.id)}  {printable(feed.label)}  {feed.address}")
        if not every_one and len(found) > 1 and not opened.as_json:
            click.echo(f"The page names {len(found) - 1} more: {', '.join(one.address for one in found[1:])}", err=True)
    if opened.as_json:
        write_json({"feeds": shapes})


@feeds.command("list", epilog=examples("feeds list", "feeds list --json"))
@library_command
def list_feeds(opened: OpenLibrary) -> None:
    """List the feeds by folder, with their unread entries and what went wrong."""
    listed = subscriptions.list_feeds(opened.store)
    rows = [
        [
            short_id(one.feed.id),
            one.feed.folder,
            one.feed.label,
            f"{one.counts.unread}/{one.counts.total}",
            f"{one.counts.left_out:,}" if one.counts.left_out else "",
            one.feed.next_at[:16].replace("T", " ") if one.feed.status == "active" else one.feed.status,
            one.feed.error or "",
        ]
        for one in listed
    ]
    opened.show_table(
        {"feeds": [feed_shape(one.feed, one.counts) for one in listed]},
        ["id", "folder", "title", "unread", "left out", "next poll", "last error"],
        rows,
    )


@feeds.command(epilog=examples("feeds change 3f2a --folder News", "feeds change 3f2a --status paused"))
@click.argument("key", metavar="ID|URL")
@click.option("--status", type=click.Choice(("active", "paused")), help="Poll the feed, or pause it.")
@_setting_options
@library_command
def change(opened: OpenLibrary, key: str, status: Any, folder: str | None, **values: Any) -> None:
    """Change a feed: its folder, name, tags, filters, or how it is polled. What is not named stays."""
    feed = change_feed(opened.store, key, folder=folder, status=status, changes=_read_settings(values))
    opened.show(
        {"feeds": [feed_shape(feed, count_entries(opened.store, feed))]},
        f"Changed  {short_id(feed.id)}  {printable(feed.label)}",
    )


@feeds.command(epilog=examples("feeds remove 3f2a", "feeds remove https://example.com/feed.xml"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_command
def remove(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Unsubscribe from feeds. Their entries leave the inbox; pages that were kept stay."""
    ids = [get_feed(opened.store, key).id for key in keys]  # all first: a typo must stop before any change
    removed = [remove_feed(opened.store, feed_id) for feed_id in ids]
    opened.show(
        {"feeds": [feed_shape(feed, EntryCounts()) for feed in removed]},
        "\n".join(f"Removed  {short_id(feed.id)}  {printable(feed.label)}" for feed in removed),
    )


@feeds.command(epilog=examples("feeds poll", "feeds poll 3f2a"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@log_option
@library_command
def poll(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Poll feeds now: the ones named, or all that are active. The server and `pagekeep work` poll those that are due."""
    with show_progress("Polling") as progress:
        report = with_retrieval(
            opened.settings, lambda retrieval: poll_now(keys, opened.store, retrieval, progress=progress)
        )
    if opened.as_json:
        write_json({"report": {**report.counts(), "failures": report.failures}})
        return
    for feed_id, reason in report.failures.items():
        click.echo(f"{short_id(feed_id)}  {printable(opened.store.feeds.get(feed_id).label)}: {reason}", err=True)
    write(
        f"Polled {format_count(report.polled, 'feed')}: {format_count(report.added, 'new entry', 'new entries')}, "
        f"{report.updated:,} changed, {report.failed:,} failed."
    )
    if report.left_out:
        left_out = format_count(report.left_out, "older entry was", "older entries were")
        write(f"{left_out} left out: feeds keep a number of entries and of days (`feeds change`).")


@feeds.command(
    epilog=examples(
        "feeds inbox", "feeds inbox --feed News --all", "feeds inbox --read 3f2a", "feeds inbox --mark-read"
    )
)
@click.option("--feed", "name", metavar="NAME", help="Only entries of this feed or folder.")
@click.option("--all", "everything", is_flag=True, help="Also entries that were read.")
@click.option("--read", "key", metavar="ID", help="Print the text of an entry, and mark it as read.")
@click.option("--mark-read", is_flag=True, help="Mark the listed entries as read.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Show at most this many.")
@library_command
def inbox(
    opened: OpenLibrary, name: str | None, everything: bool, key: str | None, mark_read: bool, limit: int
) -> None:
    """List the entries of feeds that were not read yet, newest first. They are apart from the library until kept."""
    if key is not None:
        entry = opened.store.entries.get(key)
        entries.mark_entries(opened.store, [entry.id])
        opened.show(
            {"entries": [whole_entry_shape(entry)]},
            f"# {printable(entry.title)}\n\n{entry.url or ''}\n\n{entry.content}",
        )
        return
    chosen = None if name is None else tuple(feed.id for feed in find_named(opened.store.feeds.list(), name))
    found = opened.store.entries.find(EntryQuery(chosen, "all" if everything else "unread", limit=limit)).entries
    if mark_read:
        entries.mark_entries(opened.store, [entry.id for entry in found])
    if opened.as_json:
        write_json({"entries": [to_json(feed_shapes.Entry, entry) for entry in found]})
        return
    labels = {feed.id: feed.label for feed in opened.store.feeds.list()}
    rows = [
        [
            short_id(entry.id),
            entry.sorted_at[:10],
            labels.get(entry.feed_id, ""),
            "kept" if entry.kept_at else "read" if entry.read_at else "",
            entry.title,
        ]
        for entry in found
    ]
    show_table([["id", "date", "feed", "state", "title"], *rows])


@feeds.command(epilog=examples("feeds keep 3f2a", "feeds keep 3f2a 91bc --json"))
@click.argument("keys", nargs=-1, required=True, metavar="ID...")
@log_option
@library_command
def keep(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Keep entries of the inbox: each is saved as a page of the library, with the tags of its feed."""
    ids = [opened.store.entries.get(key).id for key in keys]
    items = [
        with_retrieval(opened.settings, lambda retrieval, one=entry_id: keep_entry(one, opened.store, retrieval)).item  # type: ignore[misc]
        for entry_id in ids
    ]
    opened.show_items(items, result_line("Kept"))


@feeds.command("import", epilog=examples("feeds import subscriptions.opml"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@library_command(create=True)
def import_feeds(opened: OpenLibrary, file: Path) -> None:
    """Subscribe to the feeds of an OPML file, as other readers export it, with its folders."""
    outlines = with_retrieval(opened.settings, lambda retrieval: read_list(file.read_bytes(), retrieval))
    report = import_list(opened.store, outlines)
    if opened.as_json:
        failed = [{"address": address, "reason": reason} for address, reason in report.failed]
        write_json({"added": report.added, "known": report.known, "failed": failed})
        return
    for address, reason in report.failed:
        click.echo(f"{printable(address)}: {reason}", err=True)
    write(f"Subscribed to {format_count(report.added, 'feed')}; {report.known:,} were there already.")


@feeds.command("export", epilog=examples("feeds export > subscriptions.opml"))
@library_command
def export_feeds(opened: OpenLibrary) -> None:
    """Print the feeds with their folders as OPML, which other readers import."""
    text = export_list(opened.store)
    write_json({"opml": text}) if opened.as_json else write(text)


@feeds.command(
    epilog=examples("feeds publish 'To read' --query 'tag:reading'", "feeds publish", "feeds publish --revoke 3f2a")
)
@click.argument("title", required=False)
@click.option("--query", default="", help="Search whose results the feed has. Default: all pages.")
@click.option("--revoke", metavar="ID", help="End a published feed: its address stops working.")
@library_command
def publish(opened: OpenLibrary, title: str | None, query: str, revoke: str | None) -> None:
    """Publish a list or search as a full-text feed under a secret address of your server, or list published feeds."""
    if title:
        feed, secret = published_feeds.publish(opened.store, opened.accounts, title, query)
        paths = {"atom": f"/shared/{secret}/atom.xml", "json": f"/shared/{secret}/feed.json"}
        if opened.as_json:
            write_json({"published": [{**to_json(feed_shapes.PublishedFeed, feed, last_used_at=None), **paths}]})
            return
        write("\n".join(paths.values()))
        click.echo("These paths of your server are not shown again. Anyone who has them can read the feed.", err=True)
        return
    if revoke:
        ended = published_feeds.unpublish(opened.store, opened.accounts, revoke)
        write_json(
            {"published": [to_json(feed_shapes.PublishedFeed, ended, last_used_at=None)]}
        ) if opened.as_json else write(f"Ended {ended.title}.")
        return
    listed = published_feeds.list_published(opened.store, opened.accounts)
    if opened.as_json:
        write_json(
            {
                "published": [
                    to_json(feed_shapes.PublishedFeed, one.feed, last_used_at=one.last_used_at) for one in listed
                ]
            }
        )
        return
    rows = [
        [
            short_id(one.feed.id),
            one.feed.title,
            one.feed.query,
            one.feed.created_at[:10],
            (one.last_used_at or "")[:10],
        ]
        for one in listed
    ]
    show_table([["id", "title", "query", "created", "last read"], *rows])
