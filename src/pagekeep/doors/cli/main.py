"""The command `pagekeep` and its list of subcommands.

Nothing heavy is imported here or at the top of a subcommand: `pagekeep --version` must not wait for a parser.
"""

from __future__ import annotations

import click

from pagekeep import __version__
from pagekeep.doors.cli.evaluate import evaluate
from pagekeep.doors.cli.extract import extract

EXIT_CODES = "Exit codes: 0 done; 1 a gate is broken, or an unexpected failure; 2 bad input."


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
@click.version_option(__version__, "-V", "--version", prog_name="pagekeep", message="%(prog)s %(version)s")
def cli() -> None:
    """Keep any web page as clean Markdown."""


cli.add_command(extract)
cli.add_command(evaluate)


def main() -> None:
    """The console entry point."""
    cli(prog_name="pagekeep")
