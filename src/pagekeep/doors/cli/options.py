"""Options, arguments and help texts that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import click

from pagekeep import clock
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.output import report_errors
from pagekeep.errors import InvalidUrl, NotFound, PagekeepError

with lazily():
    from pagekeep import config
    from pagekeep.doors import logs
    from pagekeep.doors.cli.output import report_errors
    from pagekeep.fetch.urls import split_url

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


def json_command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command with `--json`, whose errors are reported."""

    @wraps(function)
    def command(*, as_json: bool, **parameters: Any) -> None:
        with report_errors(as_json=as_json):
            function(as_json=as_json, **parameters)

    return json_option(command)


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


STDIN: Final = "-"
_FILE_SUFFIXES: Final = frozenset(
    "csv eml epub docx htm html jpeg jpg json jsonl mbox md mhtml odt pdf png rtf srt txt vtt xhtml xml zip".split()
)
"""Suffixes that file names have, and host names hardly ever."""


class Source(NamedTuple):
    """What an argument names."""

    kind: Literal["url", "file", "folder", "stdin"]
    value: str
    """The whole address, or the path as it was given."""


def find_source(text: str) -> Source:
    """Return what the text names; raise `NotFound` when it is neither an address nor on the disk.

    A bare `example.com/post` is completed to https, unless there is a file of that name.
    """
    if text == STDIN:
        return Source("stdin", text)
    if is_url(text):
        return Source("url", text)
    if os.path.isdir(text):
        return Source("folder", text)
    if os.path.exists(text):
        return Source("file", text)
    url = complete_url(text)
    if url is None:
        raise NotFound(
            f"There is no file {text!r}.",
            suggestions=("Check the name. An address needs a host, such as https://example.com/post.",),
        )
    return Source("url", url)


def is_url(source: str) -> bool:
    """Return whether the source is a URL; `C:\\page.html` and `page.html` are not."""
    scheme, separator, _ = source.partition("://")
    return bool(separator) and scheme.isalnum()


def complete_url(source: str) -> str | None:
    """Return the URL that `example.com/post` means, or `None` when it looks like a file name."""
    host, slash, _ = source.partition("/")
    name, colon, port = host.partition(":")
    suffix = name.rpartition(".")[2].lower()
    is_host = "." in name.strip(".") and suffix.isalpha() and (not colon or port.isdigit())
    if not is_host or (not slash and suffix in _FILE_SUFFIXES):
        return None
    try:
        split_url(f"https://{source}")
    except PagekeepError:
        return None
    return f"https://{source}"


def check_url(url: str | None) -> str | None:
    """Return the address of a page in a file, completed; raise `InvalidUrl` or `InvalidProtocol` for what is not one."""
    if url is None:
        return None

    whole = url if is_url(url) else complete_url(url)
    if whole is None:
        raise InvalidUrl(
            f"{url!r} is not an address.", suggestions=("Use a full URL, such as https://example.com/article.",)
        )
    split_url(whole)
    return whole


def read_file(file: str, limit: int) -> bytes:
    """Return at most `limit` bytes of a file or of stdin; raise `NotFound` when it cannot be read."""
    if file == STDIN:
        return sys.stdin.buffer.read(limit)
    try:
        with open(file, "rb") as stream:
            return stream.read(limit)
    except FileNotFoundError as error:
        hint = "Check the name, or use - for stdin."
        raise NotFound(f"There is no file {file!r}.", suggestions=[hint]) from error
    except IsADirectoryError as error:
        raise NotFound(f"{file!r} is a folder, not a page.", suggestions=["Give the path of a file."]) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise NotFound(f"Cannot read the file {file!r}: {reason}.") from error


def find_pages(folder: str) -> Iterator[str]:
    """Yield the paths of the pages and documents in a folder and the folders in it, in order; hidden ones are left out."""
    from pagekeep.capture.documents.file_types import SUFFIXES

    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            stem, _, suffix = name.rpartition(".")
            if stem and suffix.lower() in SUFFIXES and not name.startswith("."):
                yield os.path.join(parent, name)
