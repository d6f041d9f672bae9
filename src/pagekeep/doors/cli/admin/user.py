"""`pagekeep user`: who may use a server that several people share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import EXIT_CODES, examples
from pagekeep.doors.cli.output import errors_shown, show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.model import User
    from pagekeep.store import Accounts


def account_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every command on accounts takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Answer as JSON."),
        click.option("--library", metavar="PATH|URL", help="The server's library; the setting without it."),
    ):
        command = option(command)
    return command


@contextmanager
def opened(library: str | None, as_json: bool, **flags: object) -> Iterator[tuple[Settings, Accounts]]:
    """The accounts for one command, errors shown as the user wants them."""
    with errors_shown(as_json=as_json):
        from pagekeep import config
        from pagekeep.store import open_accounts

        settings = config.load({"library": library, **flags})
        with closing(open_accounts(settings.library)) as accounts:
            yield settings, accounts


@click.group(epilog=EXIT_CODES)
def user() -> None:
    """Say who may use a server that several people share."""


@user.command(
    epilog=examples("user add ada", "user add ada --takes-local", "user add ada < password.txt", "user add ada --json")
)
@click.argument("name")
@click.option("--takes-local", is_flag=True, help="Give them the library that was kept here before there were users.")
@account_options
def add(name: str, takes_local: bool, library: str | None, as_json: bool) -> None:
    """Add a user. The password is asked for, or is the first line of stdin."""
    with opened(library, as_json) as (_, accounts):
        from pagekeep import accounts as app

        name = app.clean_name(name)
        made = app.add_user(accounts, name, _password(), takes_local=takes_local)
        _answer(made, as_json, "Added")


@user.command("list", epilog=examples("user list", "user list --json"))
@account_options
def list_users(library: str | None, as_json: bool) -> None:
    """List all users."""
    with opened(library, as_json) as (_, accounts):
        users = accounts.users()
        if as_json:
            write_json({"users": [_shape(each) for each in users]})
            return
        rows = [[each.name, "disabled" if each.disabled else "", each.created_at[:10], each.id] for each in users]
        show_table([["name", "", "since", "id"], *rows])


@user.command(epilog=examples("user password ada", "user password ada < password.txt"))
@click.argument("name")
@account_options
def password(name: str, library: str | None, as_json: bool) -> None:
    """Give a user another password. They are signed out everywhere; their tokens stay good."""
    with opened(library, as_json) as (_, accounts):
        from pagekeep import accounts as app

        app.find_user(accounts, name)
        _answer(app.set_password(accounts, name, _password()), as_json, "Changed the password of")


@user.command(epilog=examples("user disable ada"))
@click.argument("name")
@account_options
def disable(name: str, library: str | None, as_json: bool) -> None:
    """Let a user in no more, by password or token. What they saved stays."""
    _set_disabled(name, library, as_json, True)


@user.command(epilog=examples("user enable ada"))
@click.argument("name")
@account_options
def enable(name: str, library: str | None, as_json: bool) -> None:
    """Let a user in again."""
    _set_disabled(name, library, as_json, False)


def _set_disabled(name: str, library: str | None, as_json: bool, disabled: bool) -> None:
    with opened(library, as_json) as (_, accounts):
        from pagekeep import accounts as app

        app.set_disabled(accounts, name, disabled)
        _answer(app.find_user(accounts, name), as_json, "Disabled" if disabled else "Enabled")


def _password() -> str:
    """Asked for twice on a terminal; never an argument, which others on the machine could see."""
    if sys.stdin.isatty():
        given: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return given
    return sys.stdin.buffer.readline(10_000).decode("utf-8", "replace").rstrip("\r\n")


def _answer(user: User, as_json: bool, done: str) -> None:
    if as_json:
        write_json({"users": [_shape(user)]})
    else:
        write(f"{done} {user.name}.")


def _shape(user: User) -> dict[str, Any]:
    return {"id": user.id, "name": user.name, "disabled": user.disabled, "created_at": user.created_at}
