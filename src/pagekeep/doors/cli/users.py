"""`pagekeep user` and `pagekeep token`: manage the users of a server, and the tokens by which programs use it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary
from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option, library_option
from pagekeep.doors.cli.output import report_errors, write, write_json
from pagekeep.errors import NotFound

with lazily():
    from pagekeep.identity import accounts as app
    from pagekeep.identity import openid
    from pagekeep.identity.accounts import get_tokens
    from pagekeep.model import User
    from pagekeep.present import json_shapes
    from pagekeep.present.json_shapes import to_json


_MAX_LINE_BYTES = 10_000
"""Far longer than any password."""


def account_command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command on accounts: with its options, the accounts opened, and errors reported."""

    @wraps(function)
    def command(*, library: str | None, as_json: bool, **parameters: Any) -> None:
        with report_errors(as_json=as_json), OpenLibrary({"library": library}, as_json) as opened:
            _ = opened.accounts
            function(opened, **parameters)

    return library_option(json_option(command))


@click.group(epilog=EXIT_CODES)
def user() -> None:
    """Manage the users of a shared server."""


@user.command(
    epilog=examples("user add ada", "user add ada --takes-local", "user add ada < password.txt", "user add ada --json")
)
@click.argument("name")
@click.option("--takes-local", is_flag=True, help="Give them the library that was used here before there were users.")
@account_command
def add(opened: OpenLibrary, name: str, takes_local: bool) -> None:
    """Add a user. The password is prompted for, or read from the first line of stdin."""
    name = app.clean_name(name)
    _show(opened, app.add_user(opened.accounts, name, _read_password(), takes_local=takes_local), "Added")


@user.command("list", epilog=examples("user list", "user list --json"))
@account_command
def list_users(opened: OpenLibrary) -> None:
    """List all users."""
    users = opened.accounts.users()
    rows = [[each.name, "disabled" if each.disabled else "", each.created_at[:10], each.id] for each in users]
    opened.show_table({"users": [_shape(each) for each in users]}, ["name", "state", "created", "id"], rows)


@user.command(epilog=examples("user password ada", "user password ada < password.txt"))
@click.argument("name")
@account_command
def password(opened: OpenLibrary, name: str) -> None:
    """Change a user's password. They are signed out everywhere; their tokens keep working."""
    app.find_user(opened.accounts, name)
    _show(opened, app.set_password(opened.accounts, name, _read_password()), "Changed the password of")


@user.command(epilog=examples("user disable ada"))
@click.argument("name")
@account_command
def disable(opened: OpenLibrary, name: str) -> None:
    """Block a user from signing in, also with tokens. Their library is kept."""
    _set_disabled(opened, name, True)


@user.command(epilog=examples("user enable ada"))
@click.argument("name")
@account_command
def enable(opened: OpenLibrary, name: str) -> None:
    """Allow a disabled user to sign in again."""
    _set_disabled(opened, name, False)


@user.command(epilog=examples("user link ada 248289761001"))
@click.argument("name")
@click.argument("subject")
@account_command
def link(opened: OpenLibrary, name: str, subject: str) -> None:
    """Let a user of the OpenID Connect provider sign in as NAME; SUBJECT is their id there."""
    if opened.settings.openid_issuer is None:
        raise NotFound(
            "There is no sign-in provider.", suggestions=("Set `openid_issuer`, as docs/sign-in.md describes.",)
        )
    _show(opened, openid.link(opened.accounts, opened.settings.openid_issuer.rstrip("/"), subject, name), "Linked")


@user.command(epilog=examples("user unlink ada"))
@click.argument("name")
@account_command
def unlink(opened: OpenLibrary, name: str) -> None:
    """Let no user of a provider sign in as NAME. They are signed out everywhere."""
    _show(opened, openid.unlink(opened.accounts, name), "Unlinked")


def _set_disabled(opened: OpenLibrary, name: str, disabled: bool) -> None:
    app.set_disabled(opened.accounts, name, disabled)
    _show(opened, app.find_user(opened.accounts, name), "Disabled" if disabled else "Enabled")


def _read_password() -> str:
    """Prompt for the password, or read it from stdin; never an argument, which other users of the machine could see."""
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    return sys.stdin.buffer.readline(_MAX_LINE_BYTES).decode("utf-8", "replace").rstrip("\r\n")


def _show(opened: OpenLibrary, user: User, done: str) -> None:
    opened.show({"users": [_shape(user)]}, f"{done} {user.name}.")


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
@account_command
def add_token(
    opened: OpenLibrary, name: str, scope: str, dialect: str | None, days: float | None, user: str | None
) -> None:
    """Create a token. It is shown only once: only a hash of it is stored."""
    from pagekeep.model import DIALECTS, SCOPES

    owner = _owner_id(opened, user)
    scopes = SCOPES if scope == "write" else SCOPES[:1]
    scopes += tuple(known for known in DIALECTS if known == dialect)
    created = app.add_token(opened.accounts, owner, name, scopes, days=days)
    if opened.as_json:
        write_json({"tokens": [{**to_json(json_shapes.Token, created.token), "token": created.secret}]})
        return
    write(created.secret)
    click.echo(
        "Copy the token now: it is not shown again. Programs send it as `Authorization: Bearer TOKEN`.", err=True
    )


@token.command("list", epilog=examples("token list", "token list --user ada --json"))
@_user_option
@account_command
def list_tokens(opened: OpenLibrary, user: str | None) -> None:
    """List the tokens of a user. The secrets are not shown."""
    tokens = get_tokens(opened.accounts, _owner_id(opened, user))
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
    opened.show_table(
        {"tokens": [to_json(json_shapes.Token, each) for each in tokens]},
        ["id", "name", "scope", "created", "last used", "expires"],
        rows,
    )


@token.command(epilog=examples("token revoke 3f2a", "token revoke 3f2a --user ada"))
@click.argument("key", metavar="ID")
@_user_option
@account_command
def revoke(opened: OpenLibrary, key: str, user: str | None) -> None:
    """Revoke a token. It stops working immediately."""
    revoked = app.revoke_token(opened.accounts, _owner_id(opened, user), key)
    opened.show({"tokens": [to_json(json_shapes.Token, revoked)]}, f"Revoked {revoked.name}.")


def _owner_id(opened: OpenLibrary, name: str | None) -> str:
    """Return the id of the user of that name, or the setting `user` without a name."""
    return app.find_user(opened.accounts, name).id if name else opened.settings.user
