"""`pagekeep sinks`: items are sent on to other programs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import click

from pagekeep.doors.cli.lazy import LazyGroup, lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import format_count, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.sinks import manage
    from pagekeep.library.sinks.kind import get_kind
    from pagekeep.library.sinks.manage import (
        NewSink,
        SinkView,
        add_sink,
        check_sink,
        confirm_secret,
        find_source,
        get_sink,
        remove_sink,
        send_existing,
        set_rules,
        switch_sink,
    )
    from pagekeep.library.sinks.runner import Clients, open_clients
    from pagekeep.present import sink_shapes
    from pagekeep.present.json_shapes import to_json


T = TypeVar("T")

COMMANDS: Final = {
    "list": ("sinks:list_sinks", "List the sinks, with what waits for them."),
    "add": ("sinks:add", "Add a sink; items that match one of its rules are sent to it from now on."),
    "pair": ("sinks:pair", "Pair a sink with the other program, by the code that it shows."),
    "test": ("sinks:check", "Check the address and the secret of a sink."),
    "confirm": ("sinks:confirm", "Confirm where the secret of a sink is read from, as after a restore."),
    "rules": ("sinks:rules", "Show or change the rules of a sink."),
    "send": ("sinks:send", "Send the items that are already saved and match the rules of a sink."),
    "outbox": ("sinks:outbox", "List what waits to be delivered and what failed; retry or drop it."),
    "on": ("sinks:switch_on", "Switch a sink on again."),
    "off": ("sinks:switch_off", "Switch a sink off: nothing is sent to it."),
    "remove": ("sinks:remove", "Remove a sink; what was delivered stays where it is."),
}
"""Command name to module and function, in the order of the help."""


@click.group(
    cls=LazyGroup,
    sections={"Commands": COMMANDS},
    epilog=examples("sinks add anytype --rule tag:work", "sinks pair anytype", "sinks outbox --state dead"),
)
def sinks() -> None:
    """Send saved and changed items on to other programs: Anytype, Readwise Reader and webhooks.

    A rule is a search, such as `tag:work`; an item that matches one of the rules of a sink is sent to it, by `pagekeep work`
    and by the server. Nothing is lost while the other program is away.
    """


rule_option = click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="SEARCH",
    help="Send items that this search finds; `*` sends all. Can be repeated.",
)


@click.command(
    epilog=examples(
        "sinks add anytype --rule tag:work",
        "sinks add readwise --rule '*' --secret-command 'pass show readwise'",
        "sinks add webhook --address https://example.com/hook --rule tag:public --set content=no",
    )
)
@click.argument("kind", metavar="KIND")
@rule_option
@click.option("--name", default="", help="What to call it.  [default: its kind]")
@click.option("--address", default="", metavar="URL", help="Where the other program is, if not at its usual address.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of its kind. Can be repeated.")
@click.option("--secret-env", metavar="NAME", help="Read the secret from this environment variable, where jobs run.")
@click.option("--secret-command", metavar="COMMAND", help="Read the secret from what this command prints.")
@click.option("--ask-secret", is_flag=True, help="Ask for the secret, and store it encrypted in the library.")
@library_command(create=True, open_late=True)
def add(opened: OpenLibrary, kind: str, **options: Any) -> None:
    """Add a sink; items that match one of its rules are sent to it from now on.

    KIND is anytype, readwise or webhook. Anytype is paired afterwards; Readwise Reader needs its access token; for a webhook, a
    signing secret is made and shown once, unless you give one.
    """
    pairs = [entry.partition("=") for entry in options["settings"]]
    if any(not sign for _, sign, _ in pairs):
        raise click.UsageError("Write settings as NAME=VALUE.")

    wanted = get_kind(kind)
    asks = options["ask_secret"] or not (
        wanted.makes_secret or wanted.pairs or options["secret_env"] or options["secret_command"] or opened.as_json
    )
    secret = click.prompt(wanted.secret, hide_input=True, err=True) if asks else None
    new = NewSink(
        kind,
        options["name"],
        options["address"],
        tuple(options["rules"]),
        {name.strip(): value for name, _, value in pairs},
        secret,
        options["secret_env"],
        options["secret_command"],
    )
    added = add_sink(opened.store, opened.settings, new)
    view = get_sink(opened.store, added.sink.id)
    if opened.as_json:
        write_json({"sink": _shape(view), "secret": added.secret})
        return
    write(f"Added  {_line(view)}")
    if added.secret:
        write(f"Signing secret, shown only now: {added.secret}")
    if wanted.pairs and not view.has_secret:
        click.echo(f"Next: pagekeep sinks pair {added.sink.name}", err=True)
    if not added.sink.rules:
        click.echo("It has no rules yet, so nothing is sent. Add one: pagekeep sinks rules --help", err=True)


@click.command("list", epilog=examples("sinks list", "sinks list --json"))
@library_command
def list_sinks(opened: OpenLibrary) -> None:
    """List the sinks, with what waits for them."""
    views = manage.list_sinks(opened.store)
    rows = [
        [
            view.sink.name,
            view.sink.kind,
            view.sink.state,
            f"{view.sink.sent:,}",
            f"{view.queued:,}",
            f"{view.dead:,}",
            " | ".join(view.sink.rules),
            view.sink.error or "",
        ]
        for view in views
    ]
    opened.show_table(
        {"sinks": [_shape(view) for view in views]},
        ["name", "kind", "state", "sent", "waiting", "failed", "rules", "last error"],
        rows,
    )


@click.command(epilog=examples("sinks pair anytype", "sinks pair anytype --code 1234 --attempt 67647f5e"))
@click.argument("name")
@click.option("--code", help="The code that the other program shows. Without it, you are asked.")
@click.option("--attempt", help="The attempt that the code belongs to, from `--json`.")
@library_command
def pair(opened: OpenLibrary, name: str, code: str | None, attempt: str | None) -> None:
    """Pair a sink with the other program, by the code that it shows.

    Open the other program first: it shows a code of 4 digits. With --json, the first call starts an attempt, and a second one
    with --attempt and --code ends it.
    """
    if attempt is None:
        attempt = _talk(opened, lambda clients: manage.start_pairing(opened.store, name, clients))
        if opened.as_json and code is None:
            write_json({"attempt": attempt})
            return
        click.echo("The other program now shows a code.", err=True)
    code = code or click.prompt("Code", err=True)
    finish = manage.finish_pairing
    view = _talk(opened, lambda clients: finish(opened.store, opened.settings, name, str(attempt), str(code), clients))
    opened.show({"sink": _shape(view)}, f"Paired  {_line(view)}")


@click.command("test", epilog=examples("sinks test anytype"))
@click.argument("name")
@library_command
def check(opened: OpenLibrary, name: str) -> None:
    """Check the address and the secret of a sink.

    A webhook gets an event of the type `test`; nothing is added to the other programs.
    """
    found = _talk(opened, lambda clients: check_sink(opened.store, name, clients))
    opened.show({"message": found}, printable(found))


@click.command(epilog=examples("sinks confirm readwise", "sinks confirm readwise --yes"))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@library_command
def confirm(opened: OpenLibrary, name: str, yes: bool) -> None:
    """Confirm where the secret of a sink is read from, as after a restore.

    A library from another machine cannot run a command here, or read a variable, until you have confirmed it.
    """
    source = find_source(opened.store, name)
    if not yes:
        click.confirm(f"Read the secret from {printable(source)}?", abort=True, err=True)
    view = confirm_secret(opened.store, opened.settings, name)
    opened.show({"sink": _shape(view)}, f"Confirmed  {_line(view)}")


@click.command(epilog=examples("sinks rules anytype --add tag:work --remove '*'", "sinks rules anytype"))
@click.argument("name")
@click.option("--add", "added", multiple=True, metavar="SEARCH", help="Add this rule. Can be repeated.")
@click.option("--remove", "removed", multiple=True, metavar="SEARCH", help="Remove this rule. Can be repeated.")
@library_command
def rules(opened: OpenLibrary, name: str, added: tuple[str, ...], removed: tuple[str, ...]) -> None:
    """Show or change the rules of a sink.

    A rule is a search; an item that matches one of them is sent when it is saved or changed. `*` is every item.
    """
    view = get_sink(opened.store, name)
    if added or removed:
        kept = [rule for rule in view.sink.rules if rule not in removed]
        view = set_rules(opened.store, name, [*kept, *added])
    if opened.as_json:
        write_json({"sink": _shape(view)})
        return
    for rule in view.sink.rules:
        write(f"{printable(rule)} -> {printable(view.sink.name)}")


@click.command(epilog=examples("sinks send anytype"))
@click.argument("name")
@library_command
def send(opened: OpenLibrary, name: str) -> None:
    """Send the items that are already saved and match the rules of a sink.

    Those that it has are not sent again.
    """
    count = send_existing(opened.store, name)
    opened.show(
        {"count": count},
        f"{format_count(count, 'item')} will be sent by `pagekeep work` or the server, unless the sink has them.",
    )


@click.command(epilog=examples("sinks outbox", "sinks outbox anytype --state dead", "sinks outbox anytype --retry"))
@click.argument("name", required=False)
@click.option("--state", type=click.Choice(["queued", "dead"]), help="Only these. `dead`: failed for good.")
@click.option("--retry", is_flag=True, help="Try what failed again, and what waits now.")
@click.option("--drop", is_flag=True, help="Drop what failed.")
@click.option("--position", type=click.IntRange(1), help="With --retry or --drop: only this delivery.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Show at most this many.")
@library_command
def outbox(opened: OpenLibrary, name: str | None, state: str | None, **options: Any) -> None:
    """List what waits to be delivered and what failed; retry or drop it."""
    if options["retry"] or options["drop"]:
        change = manage.revive_deliveries if options["retry"] else manage.drop_dead
        count = change(opened.store, name, options["position"])
        if opened.as_json:
            write_json({"count": count})
            return
        write(f"{'To be tried again' if options['retry'] else 'Dropped'}: {count:,}")
        return
    listed = manage.list_deliveries(opened.store, name, state, options["limit"])
    rows = [
        [
            str(one.delivery.position),
            one.sink,
            one.delivery.state,
            str(one.delivery.attempts),
            one.title,
            str((one.delivery.error or {}).get("message", "")),
        ]
        for one in listed
    ]
    opened.show_table(
        {"deliveries": [to_json(sink_shapes.Delivery, one.delivery, sink=one.sink, title=one.title) for one in listed]},
        ["position", "sink", "state", "attempts", "title", "last error"],
        rows,
    )


@click.command("on", epilog=examples("sinks on anytype"))
@click.argument("name")
@library_command
def switch_on(opened: OpenLibrary, name: str) -> None:
    """Switch a sink on again."""
    view = switch_sink(opened.store, name, on=True)
    opened.show({"sink": _shape(view)}, f"Switched on  {_line(view)}")


@click.command("off", epilog=examples("sinks off anytype"))
@click.argument("name")
@library_command
def switch_off(opened: OpenLibrary, name: str) -> None:
    """Switch a sink off: nothing is sent to it."""
    view = switch_sink(opened.store, name, on=False)
    opened.show({"sink": _shape(view)}, f"Switched off  {_line(view)}")


@click.command(epilog=examples("sinks remove anytype"))
@click.argument("name")
@library_command
def remove(opened: OpenLibrary, name: str) -> None:
    """Remove a sink; what was delivered stays where it is."""
    view = get_sink(opened.store, name)
    remove_sink(opened.store, view.sink.id)
    opened.show({"sink": _shape(view)}, f"Removed  {_line(view)}")


def _talk(opened: OpenLibrary, work: Callable[[Clients], Awaitable[T]]) -> T:
    """Return the result of something that talks to the other program."""

    async def run() -> T:
        async with Retrieval(opened.settings) as retrieval, open_clients(retrieval) as clients:
            return await work(clients)

    return asyncio.run(run())


def _shape(view: SinkView) -> Any:
    return to_json(sink_shapes.Sink, view.sink, waiting=view.queued, dead=view.dead, has_secret=view.has_secret)


def _line(view: SinkView) -> str:
    return printable(f"{view.sink.name}  {view.sink.address}  {' | '.join(view.sink.rules)}")
