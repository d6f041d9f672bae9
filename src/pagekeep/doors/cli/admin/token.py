"""`pagekeep token`: tokens by which programs use the server for someone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.admin.user import account_options, opened
from pagekeep.doors.cli.open_library import EXIT_CODES, examples, short
from pagekeep.doors.cli.output import show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.store import Accounts

_user_option = click.option("--user", metavar="NAME", help="Whose; yours on a server for this machine alone.")


@click.group(epilog=EXIT_CODES)
def token() -> None:
    """Make and revoke tokens, by which programs use the server for someone."""


@token.command(
    epilog=examples(
        "token add 'browser extension'", "token add backup --scope read --days 90", "token add phone --user ada"
    )
)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(("read", "write")),
    default="write",
    show_default=True,
    help="It may look, or also save and change.",
)
@click.option(
    "--days", type=click.FloatRange(0, 36_500, min_open=True), help="It is good for so long; for ever without it."
)
@_user_option
@account_options
def add(name: str, scope: str, days: float | None, user: str | None, library: str | None, as_json: bool) -> None:
    """Make a token. It is shown once, and not kept: only its digest is."""
    with opened(library, as_json) as (settings, accounts):
        from pagekeep import accounts as app
        from pagekeep.model import SCOPES
        from pagekeep.present.json_shapes import token_shape

        made = app.add_token(
            accounts, _whose(settings, accounts, user), name, SCOPES if scope == "write" else ("read",), days=days
        )
        if as_json:
            write_json({"tokens": [{**token_shape(made.token), "token": made.secret}]})
            return
        write(made.secret)
        click.echo("Keep it: it is not shown again. Programs send `Authorization: Bearer ...`.", err=True)


@token.command("list", epilog=examples("token list", "token list --user ada --json"))
@_user_option
@account_options
def list_tokens(user: str | None, library: str | None, as_json: bool) -> None:
    """List someone's tokens; not the secrets, which nobody has."""
    with opened(library, as_json) as (settings, accounts):
        from pagekeep.present.json_shapes import token_shape

        tokens = accounts.tokens(_whose(settings, accounts, user))
        if as_json:
            write_json({"tokens": [token_shape(each) for each in tokens]})
            return
        rows = [
            [
                short(each.id),
                each.name,
                "+".join(each.scopes),
                each.created_at[:10],
                *map(_day, (each.last_used_at, each.expires_at)),
            ]
            for each in tokens
        ]
        show_table([["id", "name", "may", "since", "last used", "until"], *rows])


def _day(moment: str | None) -> str:
    return moment[:10] if moment else ""


@token.command(epilog=examples("token revoke 3f2a", "token revoke 3f2a --user ada"))
@click.argument("key", metavar="ID")
@_user_option
@account_options
def revoke(key: str, user: str | None, library: str | None, as_json: bool) -> None:
    """Make a token good for nothing, at once."""
    with opened(library, as_json) as (settings, accounts):
        from pagekeep import accounts as app
        from pagekeep.present.json_shapes import token_shape

        revoked = app.revoke_token(accounts, _whose(settings, accounts, user), key)
        if as_json:
            write_json({"tokens": [token_shape(revoked)]})
        else:
            write(f"Revoked {revoked.name}.")


def _whose(settings: Settings, accounts: Accounts, name: str | None) -> str:
    """The user's id: of the name given, or whoever this machine's own library belongs to."""
    from pagekeep import accounts as app

    return app.find_user(accounts, name).id if name else settings.user
