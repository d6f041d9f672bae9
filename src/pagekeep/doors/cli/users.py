"""`pagekeep user` and `pagekeep token`: manage the users of a server, and the tokens by which programs use it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option, library_option
from pagekeep.doors.cli.output import report_errors, show_table, write, write_json
from pagekeep.errors import NotFound

with lazily():
    from pagekeep import config
    from pagekeep.config import Settings
    from pagekeep.identity import accounts as app
    from pagekeep.identity import openid
    from pagekeep.identity.accounts import Accounts, get_tokens
    from pagekeep.model import User
    from pagekeep.present.json_shapes import token_shape


_MAX_LINE_BYTES = 10_000
"""Far longer than any password."""


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every command on accounts takes."""
    return library_option(json_option(command))


@contextmanager
def open_accounts(library: str | None, as_json: bool, **flags: object) -> Iterator[tuple[Settings, Accounts]]:
    """Open the accounts for one command and report errors."""
    with report_errors(as_json=as_json):
        settings = config.load({"library": library, **flags})
        with closing(app.open_accounts(settings)) as accounts:
            yield settings, accounts


@click.group(epilog=EXIT_CODES)
def user() -> None:
    """Manage the users of a shared server."""


@user.command(
    epilog=examples("user add ada", "user add ada --takes-local", "user add ada < password.txt", "user add ada --json")
)
@click.argument("name")
@click.option("--takes-local", is_flag=True, help="Give them the library that was used here before there were users.")
@account_options
def add(name: str, takes_local: bool, library: str | None, as_json: bool) -> None:
    """Add a user. The password is prompted for, or read from the first line of stdin."""
    with open_accounts(library, as_json) as (_, accounts):
        name = app.clean_name(name)
        _show(app.add_user(accounts, name, _read_password(), takes_local=takes_local), as_json, "Added")


@user.command("list", epilog=examples("user list", "user list --json"))
@account_options
def list_users(library: str | None, as_json: bool) -> None:
    """List all users."""
    with open_accounts(library, as_json) as (_, accounts):
        users = app.get_users(accounts)
        if as_json:
            write_json({"users": [_shape(each) for each in users]})
            return
        rows = [[each.name, "disabled" if each.disabled else "", each.created_at[:10], each.id] for each in users]
        show_table([["name", "state", "created", "id"], *rows])


@user.command(epilog=examples("user password ada", "user password ada < password.txt"))
@click.argument("name")
@account_options
def password(name: str, library: str | None, as_json: bool) -> None:
    """Change a user's password. They are signed out everywhere; their tokens keep working."""
    with open_accounts(library, as_json) as (_, accounts):
        app.find_user(accounts, name)
        _show(app.set_password(accounts, name, _read_password()), as_json, "Changed the password of")


@user.command(epilog=examples("user disable ada"))
@click.argument("name")
@account_options
def disable(name: str, library: str | None, as_json: bool) -> None:
    """Block a user from signing in, also with tokens. Their library is kept."""
    _set_disabled(name, library, as_json, True)


@user.command(epilog=examples("user enable ada"))
@click.argument("name")
@account_options
def enable(name: str, library: str | None, as_json: bool) -> None:
    """Allow a disabled user to sign in again."""
    _set_disabled(name, library, as_json, False)


@user.command(epilog=examples("user link ada 248289761001"))
@click.argument("name")
@click.argument("subject")
@account_options
def link(name: str, subject: str, library: str | None, as_json: bool) -> None:
    """Let a user of the OpenID Connect provider sign in as NAME; SUBJECT is their id there."""
    with open_accounts(library, as_json) as (settings, accounts):
        if settings.openid_issuer is None:
            raise NotFound(
                "There is no sign-in provider.", suggestions=("Set `openid_issuer`, as docs/sign-in.md describes.",)
            )
        _show(openid.link(accounts, settings.openid_issuer.rstrip("/"), subject, name), as_json, "Linked")


@user.command(epilog=examples("user unlink ada"))
@click.argument("name")
@account_options
def unlink(name: str, library: str | None, as_json: bool) -> None:
    """Let no user of a provider sign in as NAME. They are signed out everywhere."""
    with open_accounts(library, as_json) as (_, accounts):
        _show(openid.unlink(accounts, name), as_json, "Unlinked")


def _set_disabled(name: str, library: str | None, as_json: bool, disabled: bool) -> None:
    with open_accounts(library, as_json) as (_, accounts):
        app.set_disabled(accounts, name, disabled)
        _show(app.find_user(accounts, name), as_json, "Disabled" if disabled else "Enabled")


def _read_password() -> str:
    """Prompt for the password, or read it from stdin; never an argument, which other users of the machine could see."""
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    return sys.stdin.buffer.readline(_MAX_LINE_BYTES).decode("utf-8", "replace").rstrip("\r\n")


def _show(user: User, as_json: bool, done: str) -> None:
    if as_json:
        write_json({"users": [_shape(user)]})
    else:
        write(f"{done} {user.name}.")


def _shape(user: User) -> dict[str, Any]:
    return {"id": user.id, "name": user.name, "disabled": user.disabled, "created_at": user.created_at}


_user_option = click.option("--user", metavar="NAME", help="Owner of the token. Default: the setting `user`.")


@click.group(epilog=EXIT_CODES)
def token() -> None:
    """Create, list and revoke tokens, by which programs use the server."""


@token.command(
    "add",
    epilog=examples(
        "token add 'browser extension'",
        "token add backup --scope read --days 90",
        "token add phone --dialect wallabag",
    ),
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
def add_token(
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
        from pagekeep.model import DIALECTS, SCOPES

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
        revoked = app.revoke_token(accounts, _owner_id(settings, accounts, user), key)
        if as_json:
            write_json({"tokens": [token_shape(revoked)]})
        else:
            write(f"Revoked {revoked.name}.")


def _owner_id(settings: Settings, accounts: Accounts, name: str | None) -> str:
    """Return the id of the user of that name, or the setting `user` without a name."""

    return app.find_user(accounts, name).id if name else settings.user
