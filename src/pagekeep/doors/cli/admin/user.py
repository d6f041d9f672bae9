"""`pagekeep user`: manage the users of a shared server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option, library_option
from pagekeep.doors.cli.output import report_errors, show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.accounts import Accounts
    from pagekeep.config import Settings
    from pagekeep.model import User

_MAX_LINE_BYTES = 10_000
"""Far longer than any password."""


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every command on accounts takes."""
    return library_option(json_option(command))


@contextmanager
def open_accounts(library: str | None, as_json: bool, **flags: object) -> Iterator[tuple[Settings, Accounts]]:
    """Open the accounts for one command and report errors."""
    with report_errors(as_json=as_json):
        from pagekeep import accounts as app
        from pagekeep import config

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
        from pagekeep import accounts as app

        name = app.clean_name(name)
        _show(app.add_user(accounts, name, _read_password(), takes_local=takes_local), as_json, "Added")


@user.command("list", epilog=examples("user list", "user list --json"))
@account_options
def list_users(library: str | None, as_json: bool) -> None:
    """List all users."""
    with open_accounts(library, as_json) as (_, accounts):
        from pagekeep import accounts as app

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
        from pagekeep import accounts as app

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
        from pagekeep.errors import NotFound
        from pagekeep.openid import users

        if settings.openid_issuer is None:
            raise NotFound(
                "There is no sign-in provider.", suggestions=("Set `openid_issuer`, as docs/sign-in.md describes.",)
            )
        _show(users.link(accounts, settings.openid_issuer.rstrip("/"), subject, name), as_json, "Linked")


@user.command(epilog=examples("user unlink ada"))
@click.argument("name")
@account_options
def unlink(name: str, library: str | None, as_json: bool) -> None:
    """Let no user of a provider sign in as NAME. They are signed out everywhere."""
    with open_accounts(library, as_json) as (_, accounts):
        from pagekeep.openid import users

        _show(users.unlink(accounts, name), as_json, "Unlinked")


def _set_disabled(name: str, library: str | None, as_json: bool, disabled: bool) -> None:
    with open_accounts(library, as_json) as (_, accounts):
        from pagekeep import accounts as app

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
