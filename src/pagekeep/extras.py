"""Optional parts of the installation: what each needs, whether it is there, and how to install it.

In a checkout that `./pagekeep` runs from its own `.venv`, a missing part is installed when it is first needed. Anywhere
else nothing is installed: the error names the command that does it.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Final, NamedTuple

from pagekeep.errors import NotFound, PagekeepError


class Extra(NamedTuple):
    """An optional part of the installation."""

    purpose: str
    distributions: tuple[str, ...]


EXTRAS: Final[dict[str, Extra]] = {
    "server": Extra(
        "`pagekeep serve`, and exports as HTML and EPUB",
        (
            *("argon2-cffi", "fastapi", "jinja2", "latex2mathml", "markdown-it-py", "mdit-py-plugins"),
            *("prometheus-client", "pygments", "python-multipart", "segno", "sse-starlette", "uvicorn"),
        ),
    ),
    "mcp": Extra("`pagekeep mcp`, for AI assistants", ("mcp",)),
    "bulk": Extra("`pagekeep bulk`", ("fastwarc", "pyarrow", "rensa")),
    "documents": Extra("PDF files", ("pypdfium2",)),
    "feeds": Extra("RSS and Atom feeds", ("feedparser",)),
    "signatures": Extra("signed receipts", ("cryptography",)),
    "sinks": Extra("stored secrets of sinks", ("cryptography",)),
    "browser": Extra("pages that need JavaScript", ("playwright",)),
    "openid": Extra("sign-in with OpenID Connect", ("joserfc",)),
    "postgres": Extra("a library on PostgreSQL", ("psycopg",)),
    "evaluate": Extra("`pagekeep evaluate`", ("markdown-it-py", "mdit-py-plugins")),
}
"""The parts by name, as in `pip install 'pagekeep[NAME]'`."""
_STAMP: Final = ".pagekeep-run"
"""The file that `scripts/setup` writes into the `.venv` of a checkout."""


def find_missing(name: str) -> list[str]:
    """Return the packages of an extra that are not installed."""
    return [distribution for distribution in EXTRAS[name].distributions if not is_installed(distribution)]


def is_installed(distribution: str) -> bool:
    """Return whether a package is installed."""
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def checkout() -> Path | None:
    """Return the folder of the checkout whose `.venv` this Python runs in, or `None` for any other installation."""
    folder = Path(sys.prefix).parent
    has_launcher = Path(sys.prefix, _STAMP).is_file() and (folder / "scripts/setup").is_file()
    return folder if has_launcher else None


def install_command(name: str) -> str:
    """Return the command that installs an extra where this program runs."""
    folder = checkout()
    return f"{folder}/scripts/setup run {name}" if folder else f"pip install 'pagekeep[{name}]'"


def require(
    name: str, what: str, *, also: tuple[str, ...] = (), error: type[PagekeepError] = NotFound, hint: str | None = None
) -> None:
    """Raise `error` when an extra is missing; in a checkout, install it first, and the extras in `also` with it.

    `what` is the subject of the message, such as "`pagekeep serve`"; `hint` is another way out.
    """
    missing = find_missing(name)
    folder = checkout()
    if missing and folder is not None:
        _install(folder, (name, *also))
        missing = find_missing(name)
    if missing:
        one = len(missing) == 1
        needed = f"the package {missing[0]}, which is" if one else f"packages ({', '.join(missing)}) that are"
        raise error(
            f"{what} needs {needed} not installed.",
            suggestions=(f"To install: {install_command(name)}", *((hint,) if hint else ())),
        )


def _install(folder: Path, names: tuple[str, ...]) -> None:
    """Install extras with the script of the checkout; its messages go to stderr, as stdout belongs to the command."""
    subprocess.run([folder / "scripts/setup", "run", *names], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    importlib.invalidate_caches()
