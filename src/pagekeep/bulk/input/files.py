"""Find the files that a run reads, and guess their formats by name."""

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
BUFFER_BYTES: Final = 1_048_576
"""How much of a file is read at once."""
_COMPRESSED: Final = (".gz", ".zst", ".lz4")


@dataclass(frozen=True, slots=True)
class Input:
    """One file of a run."""

    path: str
    """The path to open, or an address for fsspec."""
    name: str
    """The name in the output: relative to the caller's folder, so that it is the same on every machine."""
    format: Format
    size: int | None = None
    """Bytes on disk; `None` when not known."""


def find_files(sources: Iterable[str]) -> tuple[Input, ...]:
    """Return all files at these paths, folders, patterns and addresses, in a stable order.

    Raises `NotFound` for a source without files that can be read.
    """
    inputs: dict[str, Input] = {}
    for source in sources:
        before = len(inputs)
        for item in _expand(source):
            inputs.setdefault(item.path, item)
        if len(inputs) == before:
            raise NotFound(
                f"Nothing to read was found at {source}.",
                suggestions=("Give WARC, Parquet, JSONL or HTML files, a folder of them, or a pattern in quotes.",),
            )
    return tuple(inputs.values())


def _expand(source: str) -> Iterator[Input]:
    if "://" in source:
        yield from _expand_remote(source)
        return
    path = Path(source)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
        yield from _keep_known_formats((str(file), file.relative_to(path).as_posix()) for file in files)
    elif path.is_file():
        yield Input(str(path), path.name, guess_format(path.name) or _refuse(path.name), path.stat().st_size)
    else:
        yield from _keep_known_formats((file, Path(file).name) for file in sorted(glob.glob(source, recursive=True)))


def _expand_remote(source: str) -> Iterator[Input]:
    try:
        import fsspec
    except ImportError as missing:
        raise UnsupportedContent(
            "Remote files need the package fsspec.",
            suggestions=("Install fsspec and the package for that storage, such as s3fs.",),
        ) from missing
    files = fsspec.open_files(source, "rb")
    yield from _keep_known_formats(
        (f"{source.partition('://')[0]}://{file.path}", Path(file.path).name) for file in files
    )


def _keep_known_formats(files: Iterable[tuple[str, str]]) -> Iterator[Input]:
    """Yield the files with a known format; a folder may contain other files too."""
    for path, name in files:
        if format_ := guess_format(name):
            yield Input(path, name, format_, None if "://" in path else Path(path).stat().st_size)


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def guess_format(name: str) -> Format | None:
    """Return the format by the file's name, or `None` when it is not known."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


def _refuse(name: str) -> Format:
    raise UnsupportedContent(
        f"The format of {name} is not supported.",
        suggestions=("Give .warc, .warc.gz, .warc.zst, .parquet, .jsonl, .jsonl.gz or .html files.",),
    )


def open_binary(item: Input) -> IO[bytes]:
    """Open a file as it is stored; the caller decompresses it."""
    if "://" not in item.path:
        return Path(item.path).open("rb", buffering=BUFFER_BYTES)
    import fsspec

    stream: Any = fsspec.open(item.path, "rb").open()
    opened: IO[bytes] = stream
    return opened
