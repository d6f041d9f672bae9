"""The password of a mailbox: from the settings or from a command of the owner. It is never stored, logged or shown."""

from __future__ import annotations

import shlex
import subprocess
from typing import Final

from pagekeep.config import Settings
from pagekeep.errors import NotFound, ParseError

_COMMAND_SECONDS: Final = 20.0
_MAX_PASSWORD_CHARS: Final = 4_000


def find_password(settings: Settings, account: str) -> str:
    """Return the password for `user@host`; `NotFound` when there is none, `ParseError` when the command fails.

    The password of the settings is for one mailbox only: else a client that can add sources could have it sent to its
    own server.
    """
    if settings.mail_password_command:
        return _ask_command(settings.mail_password_command, account)
    if settings.mail_password and settings.mail_account == account:
        return settings.mail_password
    raise NotFound(
        f"There is no password for the mailbox {account:.200}.",
        suggestions=(
            f"Set PAGEKEEP_MAIL_ACCOUNT={account:.200} and PAGEKEEP_MAIL_PASSWORD, or the setting `mail_password_command`.",
        ),
    )


def _ask_command(command: str, account: str) -> str:
    failed = ParseError(
        f"The command in `mail_password_command` printed no password for {account:.200}.",
        suggestions=("Run it in a terminal to see why.",),
    )
    try:
        done = subprocess.run(
            [*shlex.split(command), account],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=True,
        )
        password = done.stdout.decode("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, ValueError, subprocess.SubprocessError):
        raise failed from None
    if not password or len(password) > _MAX_PASSWORD_CHARS:
        raise failed
    return password
