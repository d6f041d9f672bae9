"""The command `pagekeep` and its list of subcommands.

A subcommand is loaded when it is called, and nothing heavy at the top of one: `pagekeep --version` must not wait.
"""

from __future__ import annotations

from typing import Final

import click

from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.version import __version__

EXIT_CODES = "Exit codes: 0 done; 1 a gate is broken, or an unexpected failure; 2 bad input; 130 interrupted."

COMMANDS: Final = {
    "save": "save:save",
    "list": "browse:list_items",
    "read": "browse:read",
    "search": "browse:search",
    "pin": "mark:pin",
    "unpin": "mark:unpin",
    "archive": "mark:archive",
    "unarchive": "mark:unarchive",
    "tag": "mark:tag",
    "delete": "mark:delete",
    "restore": "mark:restore",
    "purge": "mark:purge",
    "retry": "save:retry",
    "reparse": "reparse:reparse",
    "import": "import_:import_",
    "export": "export:export",
    "mirror": "mirror:mirror",
    "work": "work:work",
    "jobs": "work:jobs",
    "stats": "browse:stats",
    "backup": "care:backup",
    "library": "install:library",
    "user": "user:user",
    "token": "token:token",
    "extract": "extract:extract",
    "explain": "explain_item:explain",
    "rules": "rules:rules",
    "evaluate": "evaluate:evaluate",
    "compare": "compare:compare",
    "compared": "compared:compared",
    "bulk": "bulk:bulk",
    "mcp": "mcp:mcp",
    "serve": "serve:serve",
    "doctor": "care:doctor",
}
"""Name to module and function, in the order of the help."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, "-V", "--version", prog_name="pagekeep", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep any web page as clean Markdown."""


def main() -> None:
    """The console entry point."""
    cli(prog_name="pagekeep")
