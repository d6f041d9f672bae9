"""What an argument of a command names: an address, a file, a folder or standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from pagekeep.errors import InvalidUrl, NotFound, PagekeepError

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
    from pagekeep.fetch.urls import split_url

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
    from pagekeep.fetch.urls import split_url

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
