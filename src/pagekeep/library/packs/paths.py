"""Paths of the files of a pack: the site's own folders and names, as every file system accepts them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from pagekeep.library.exports.file_names import clean_stem

_MAX_PART_BYTES: Final = 80
_MAX_DEPTH: Final = 12
"""Folders; deeper ones are joined to one name."""
_ENDINGS: Final = (".html", ".htm", ".php", ".aspx", ".asp", ".jsp", ".xhtml", ".md", ".txt")
_RESERVED: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10)))
)
"""Names that Windows does not allow for files."""
ENDING: Final = ".md"


def assign_paths(urls: Sequence[str]) -> dict[str, str]:
    """Return the path of each address: below the folder that all have in common, no two the same on any file system."""
    parts = {url: _split(url) for url in urls}
    shared = _count_shared([folders for folders, _ in parts.values()])
    hosts = {urlsplit(url).netloc for url in urls}
    taken: set[str] = set()
    paths: dict[str, str] = {}
    for url in urls:
        folders, name = parts[url]
        host = [_clean(urlsplit(url).netloc)] if len(hosts) > 1 else []
        stem = "/".join([*host, *_bound(folders if host else folders[shared:]), name])
        paths[url] = _choose_free(stem, taken) + ENDING
    return paths


def _split(url: str) -> tuple[list[str], str]:
    """Return the folders and the name of a page."""
    address = urlsplit(url)
    *folders, last = address.path.lstrip("/").split("/")
    last = unquote(last)
    for ending in _ENDINGS:
        if last.lower().endswith(ending):
            last = last[: -len(ending)]
            break
    name = _clean(last) or "index"
    if address.query:
        digest = hashlib.sha256(address.query.encode("utf-8", "replace")).hexdigest()[:6]
        name = f"{name} {_clean(address.query)[:40].strip()} {digest}"
    return [_clean(unquote(one)) or "_" for one in folders if one], name


def _clean(text: str) -> str:
    """Return a text as the name of a file or folder."""
    stem = clean_stem(text, _MAX_PART_BYTES)
    return f"_{stem}" if stem.lower() in _RESERVED else stem


def _bound(folders: list[str]) -> list[str]:
    if len(folders) <= _MAX_DEPTH:
        return folders
    rest = "/".join(folders[_MAX_DEPTH:])
    return [*folders[:_MAX_DEPTH], hashlib.sha256(rest.encode("utf-8", "replace")).hexdigest()[:12]]


def _count_shared(folders: list[list[str]]) -> int:
    """Return how many of the first folders are the same everywhere."""
    count = 0
    for several in zip(*folders, strict=False):
        if len(set(several)) > 1:
            break
        count += 1
    return count


def _choose_free(stem: str, taken: set[str]) -> str:
    """Return the stem, with a number if it is taken; upper and lower case are the same on some file systems."""
    chosen, number = stem, 1
    while chosen.casefold() in taken:
        number += 1
        chosen = f"{stem} {number}"
    taken.add(chosen.casefold())
    return chosen
