"""The command `pagekeep` and its subcommands.

A subcommand is imported when it is called, and its module imports nothing heavy: `pagekeep --version` must be fast.
"""

from __future__ import annotations

from typing import Final

import click

from pagekeep.doors.cli.lazy import LazyGroup
from pagekeep.version import __version__

EXIT_CODES = "Exit codes: 0 done; 1 a check failed, or an unexpected failure; 2 bad input; 130 interrupted."

COMMANDS: Final = {
    "Library": {
        "save": "library.save:save",
        "list": "library.browse:list_items",
        "read": "library.browse:read",
        "search": "library.browse:search",
        "open": "library.open_page:open_page",
        "tags": "library.browse:tags",
        "stats": "library.browse:stats",
        "pin": "library.change:pin",
        "unpin": "library.change:unpin",
        "archive": "library.change:archive",
        "unarchive": "library.change:unarchive",
        "tag": "library.change:tag",
        "delete": "library.change:delete",
        "restore": "library.change:restore",
        "purge": "library.change:purge",
        "undo": "library.undo:undo",
        "retry": "library.save:retry",
        "reparse": "library.reparse:reparse",
        "import": "library.import_:import_",
        "export": "library.export:export",
        "mirror": "library.mirror:mirror",
        "work": "library.queue:work",
        "jobs": "library.queue:jobs",
    },
    "Pages": {
        "extract": "pages.extract:extract",
        "explain": "pages.explain:explain",
    },
    "Rules": {
        "rules": "rules.rules:rules",
    },
    "Admin": {
        "serve": "admin.serve:serve",
        "mcp": "admin.mcp:mcp",
        "user": "admin.user:user",
        "token": "admin.token:token",
        "library": "admin.library_setup:library",
        "backup": "admin.maintenance:backup",
        "repair": "admin.repair:repair",
        "doctor": "admin.maintenance:doctor",
        "completion": "admin.completion:completion",
    },
    "Lab": {
        "bulk": "lab.bulk:bulk",
        "evaluate": "lab.evaluate:evaluate",
        "compare": "lab.compare:compare",
        "compared": "lab.compare:compared",
    },
}
"""The sections of the help, and their commands in order."""


@click.group(
    cls=LazyGroup,
    sections=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, "-V", "--version", prog_name="pagekeep", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep any web page as clean Markdown."""


def main() -> None:
    """Run the command line; the console entry point."""
    cli(prog_name="pagekeep")
