"""Options and help texts that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from pagekeep import clock

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 unexpected failure; 2 bad input, item not found, or a page that could not be fetched; "
    "130 interrupted."
)

verbose_option = click.option(
    "--verbose",
    is_flag=True,
    help="In the explanation, list every removal, the time of each step, and rules and selectors that found nothing.",
)


def _start_log(_context: click.Context, _option: click.Parameter, verbose: bool) -> None:
    """Log to stderr, at the level of the settings."""
    if verbose:
        from pagekeep import config
        from pagekeep.doors import logs
        from pagekeep.doors.cli.output import report_errors

        with report_errors():
            logs.configure(config.load().log_level)


log_option = click.option(
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_start_log,
    help="Log every captured page and every failed job to stderr, in one line each.",
)


def _parse_type(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the content type of a type's name."""
    if value is None:
        return None
    from pagekeep.capture.documents.file_types import SUFFIXES, TYPE_NAMES

    if value.lower() not in SUFFIXES:
        raise click.BadParameter(f"{value!r} is not a type of file that is read. Use one of {', '.join(TYPE_NAMES)}.")
    return SUFFIXES[value.lower()]


type_option = click.option(
    "--type",
    "declared",
    metavar="TYPE",
    callback=_parse_type,
    help="Type of the file or of stdin, where content and name do not show it: text, markdown, csv...",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
library_option = click.option(
    "--library", metavar="PATH|URL", help="Library file or postgresql:// URL. Default: the setting `library`."
)
limit_pages_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read at most N pages.")
rules_folder_option = click.option(
    "--rules", "folder", metavar="DIR", help="Folder with your own rules. Default: the setting `rules`."
)
report_folder_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write summary.csv, history.csv and report.html here."
)
frontmatter_option = click.option(
    "--profile",
    type=click.Choice(("pagekeep", "obsidian")),
    default="pagekeep",
    show_default=True,
    help="Frontmatter style of the Markdown files.",
)


def library_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every command on the library takes."""
    user_option = click.option("--user", metavar="NAME", help="Owner of the library. Default: the setting `user`.")
    for option in (json_option, user_option, library_option):
        command = option(command)
    return command


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples and exit codes."""
    return "\b\nExamples:\n" + "\n".join(f"  pagekeep {line}" for line in lines) + f"\n\n{EXIT_CODES}"


def parse_date(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Check a date option: a year, month, day or time, in UTC unless it names a zone, as in a search."""
    if value is not None and clock.begin_of(value) is None:
        raise click.BadParameter(f"{value!r} is not a date. Use the form 2025-03-19.")
    return value


def parse_pairs(values: tuple[str, ...], separator: str, option: str) -> dict[str, str]:
    """Return an option's NAME=VALUE texts as a dict."""
    pairs: dict[str, str] = {}
    for text in values:
        name, has_separator, value = text.partition(separator)
        if not has_separator or not name.strip():
            raise click.UsageError(f"{option} takes NAME{separator}VALUE, not {text!r}.")
        pairs[name.strip()] = value.strip()
    return pairs
