"""`pagekeep token`: manage the tokens by which programs use the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.admin.user import account_options, open_accounts
from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.options import EXIT_CODES, examples
from pagekeep.doors.cli.output import show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.accounts import Accounts
    from pagekeep.config import Settings

_user_option = click.option("--user", metavar="NAME", help="Owner of the token. Default: the setting `user`.")


@click.group(epilog=EXIT_CODES)
def token() -> None:
    """Create, list and revoke tokens, by which programs use the server."""


@token.command(
    epilog=examples(
        "token add 'browser extension'",
        "token add backup --scope read --days 90",
        "token add phone --dialect wallabag",
    )
)
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(("read", "write")),
    default="write",
    show_default=True,
    help="Permission: only read, or also save and change.",
)
@click.option(
    "--dialect",
    type=click.Choice(("wallabag", "linkding", "opds")),
    help="Make an app password: the token opens this dialect's routes and nothing else.",
)
@click.option(
    "--days", type=click.FloatRange(0, 36_500, min_open=True), help="Days until it expires. Default: it never expires."
)
@_user_option
@account_options
def add(
    name: str,
    scope: str,
    dialect: str | None,
    days: float | None,
    user: str | None,
    library: str | None,
    as_json: bool,
) -> None:
    """Create a token. It is shown only once: only a hash of it is stored."""
    with open_accounts(library, as_json) as (settings, accounts):
        from pagekeep import accounts as app
        from pagekeep.model import DIALECTS, SCOPES
        from pagekeep.present.json_shapes import token_shape

        owner = _owner_id(settings, accounts, user)
        scopes = SCOPES if scope == "write" else SCOPES[:1]
        scopes += tuple(known for known in DIALECTS if known == dialect)
        created = app.add_token(accounts, owner, name, scopes, days=days)
        if as_json:
            write_json({"tokens": [{**token_shape(created.token), "token": created.secret}]})
            return
        write(created.secret)
        click.echo(
            "Copy the token now: it is not shown again. Programs send it as `Authorization: Bearer TOKEN`.", err=True
        )


@token.command("list", epilog=examples("token list", "token list --user ada --json"))
@_user_option
@account_options
def list_tokens(user: str | None, library: str | None, as_json: bool) -> None:
    """List the tokens of a user. The secrets are not shown."""
    with open_accounts(library, as_json) as (settings, accounts):
        from pagekeep.accounts import get_tokens
        from pagekeep.present.json_shapes import token_shape

        tokens = get_tokens(accounts, _owner_id(settings, accounts, user))
        if as_json:
            write_json({"tokens": [token_shape(each) for each in tokens]})
            return
        rows = [
            [
                short_id(each.id),
                each.name,
                "+".join(each.scopes),
                each.created_at[:10],
                (each.last_used_at or "")[:10],
                (each.expires_at or "")[:10],
            ]
            for each in tokens
        ]
        show_table([["id", "name", "scope", "created", "last used", "expires"], *rows])


@token.command(epilog=examples("token revoke 3f2a", "token revoke 3f2a --user ada"))
@click.argument("key", metavar="ID")
@_user_option
@account_options
def revoke(key: str, user: str | None, library: str | None, as_json: bool) -> None:
    """Revoke a token. It stops working immediately."""
    with open_accounts(library, as_json) as (settings, accounts):
        from pagekeep import accounts as app
        from pagekeep.present.json_shapes import token_shape

        revoked = app.revoke_token(accounts, _owner_id(settings, accounts, user), key)
        if as_json:
            write_json({"tokens": [token_shape(revoked)]})
        else:
            write(f"Revoked {revoked.name}.")


def _owner_id(settings: Settings, accounts: Accounts, name: str | None) -> str:
    """Return the id of the user of that name, or the setting `user` without a name."""
    from pagekeep import accounts as app

    return app.find_user(accounts, name).id if name else settings.user
