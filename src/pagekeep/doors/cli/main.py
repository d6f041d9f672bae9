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
    "save": "pages.save:save",
    "list": "library.browse:list_items",
    "read": "library.browse:read",
    "search": "library.browse:search",
    "pin": "library.change:pin",
    "unpin": "library.change:unpin",
    "archive": "library.change:archive",
    "unarchive": "library.change:unarchive",
    "tag": "library.change:tag",
    "delete": "library.change:delete",
    "restore": "library.change:restore",
    "purge": "library.change:purge",
    "retry": "pages.save:retry",
    "reparse": "library.reparse:reparse",
    "import": "library.import_:import_",
    "export": "library.export:export",
    "mirror": "library.mirror:mirror",
    "work": "library.queue:work",
    "jobs": "library.queue:jobs",
    "stats": "library.browse:stats",
    "backup": "admin.maintenance:backup",
    "library": "admin.library_setup:library",
    "user": "admin.user:user",
    "token": "admin.token:token",
    "extract": "pages.extract:extract",
    "explain": "pages.explain:explain",
    "rules": "rules.rules:rules",
    "evaluate": "lab.evaluate:evaluate",
    "compare": "lab.compare:compare",
    "compared": "lab.compared:compared",
    "bulk": "lab.bulk:bulk",
    "mcp": "admin.mcp:mcp",
    "serve": "admin.serve:serve",
    "doctor": "admin.maintenance:doctor",
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
