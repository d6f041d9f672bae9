"""Which files a run reads, and what is in each: found by name, told by content."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

from pagekeep.errors import NotFound, UnsupportedContent

Format = Literal["warc", "parquet", "jsonl", "html"]

_SUFFIXES: Final[dict[str, Format]] = {
    ".warc": "warc",
    ".arc": "warc",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}
BUFFER: Final = 1_048_576
"""Bytes read at once."""
_PACKED: Final = (".gz", ".zst", ".lz4")


@dataclass(frozen=True, slots=True)
class Input:
    """One file of a run."""

    path: str
    """As it is opened: a path, or an address for fsspec."""
    name: str
    """As the output names it: below what the caller gave, so that it is the same on every machine."""
    format: Format
    size: int | None = None
    """Bytes, as it is stored; `None` where that is not known."""


def find(given: Iterable[str]) -> tuple[Input, ...]:
    """All files that paths, folders, globs and addresses stand for, in a stable order. `NotFound` for one that is empty."""
    found: dict[str, Input] = {}
    for place in given:
        before = len(found)
        for item in _expand(place):
            found.setdefault(item.path, item)
        if len(found) == before:
            raise NotFound(
                f"Nothing to read was found at {place}.",
                suggestions=("Give WARC, Parquet, JSONL or HTML files, a folder of them, or a pattern in quotes.",),
            )
    return tuple(found.values())


def _expand(place: str) -> Iterator[Input]:
    if "://" in place:
        yield from _remote(place)
        return
    path = Path(place)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
        yield from _known((str(file), file.relative_to(path).as_posix()) for file in files)
    elif path.is_file():
        yield Input(str(path), path.name, format_of(path.name) or _refuse(path.name), path.stat().st_size)
    else:
        yield from _known((file, Path(file).name) for file in sorted(glob.glob(place, recursive=True)))


def _remote(place: str) -> Iterator[Input]:
    try:
        import fsspec
    except ImportError as missing:
        raise UnsupportedContent(
            "Remote files need one more package.",
            suggestions=("Install fsspec and the package for that storage, such as s3fs.",),
        ) from missing
    files = fsspec.open_files(place, "rb")
    yield from _known((f"{place.partition('://')[0]}://{file.path}", Path(file.path).name) for file in files)


def _known(files: Iterable[tuple[str, str]]) -> Iterator[Input]:
    """A folder may hold other things too; they are none of our business."""
    for path, name in files:
        if found := format_of(name):
            yield Input(path, name, found, None if "://" in path else Path(path).stat().st_size)


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def format_of(name: str) -> Format | None:
    """What the name says is in the file."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _refuse(name: str) -> Format:
    raise UnsupportedContent(
        f"{name} is no format that can be read.",
        suggestions=("Give .warc, .warc.gz, .warc.zst, .parquet, .jsonl, .jsonl.gz or .html files.",),
    )


def open_binary(item: Input) -> IO[bytes]:
    """The file as it is stored. Packed ones are unpacked by who reads them."""
    if "://" not in item.path:
        return Path(item.path).open("rb", buffering=BUFFER)
    import fsspec

    stream: Any = fsspec.open(item.path, "rb").open()
    opened: IO[bytes] = stream
    return opened
